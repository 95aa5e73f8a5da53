// Enrols with the EST classes of Bouncy Castle. Its arguments are the host with port of the server and a file with the certificate that
// verifies the server. Reads commands, one a line, words between tabs, and prints one line for each. Binary words are base64 of DER.
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.nio.file.*;
import java.security.*;
import java.security.cert.*;
import java.security.spec.*;
import java.util.*;
import javax.net.ssl.*;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.ExtensionsGenerator;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.est.*;
import org.bouncycastle.est.jcajce.*;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.operator.jcajce.*;
import org.bouncycastle.pkcs.*;
import org.bouncycastle.pkcs.jcajce.*;
import org.bouncycastle.util.Store;

public class EstClient {
  private static final Map<String, String> signatures =
      Map.of("rsa", "SHA256withRSA", "ec", "SHA256withECDSA", "ed25519", "Ed25519");

  private final String server;
  private final X509TrustManager[] trusted;
  /** Answers to requests that wait, by CSR. The library repeats a request from its answer. */
  private final Map<String, EnrollmentResponse> waiting = new HashMap<>();

  EstClient(String server, Path authority) throws Exception {
    this.server = server;
    TrustAnchor anchor = new TrustAnchor(readCertificate(Files.readAllBytes(authority)), null);
    trusted = JcaJceUtils.getCertPathTrustManager(Set.of(anchor), null);
  }

  public static void main(String[] args) throws Exception {
    Security.addProvider(new BouncyCastleProvider());
    EstClient client = new EstClient(args[0], Path.of(args[1]));
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line; (line = commands.readLine()) != null; ) {
      System.out.println(String.join("\t", client.answer(line.split("\t", -1))));
      System.out.flush();
    }
  }

  private List<String> answer(String[] words) {
    try {
      return switch (words[0]) {
        case "cacerts" -> certificates(builder().withLabel(words[1]).build().getCACerts().getCertificateStore());
        case "csrattrs" -> attributes(words[1]);
        case "request" -> request(words[1], words[2]);
        default -> enroll(words);
      };
    } catch (ESTException e) {
      return e.getStatusCode() == 0 ? failed(e) : List.of("rejected", "" + e.getStatusCode(), bodyOf(e));
    } catch (Exception e) {
      return failed(e);
    }
  }

  /** Generates a key and signs a CSR for a name. */
  private List<String> request(String keyType, String name) throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance(keyType);
    if (keyType.equals("rsa")) generator.initialize(2048);
    if (keyType.equals("ec")) generator.initialize(new ECGenParameterSpec("secp256r1"));
    KeyPair pair = generator.generateKeyPair();
    GeneralNames names = new GeneralNames(new GeneralName(GeneralName.dNSName, name));
    ExtensionsGenerator extensions = new ExtensionsGenerator();
    extensions.addExtension(Extension.subjectAlternativeName, false, names);
    PKCS10CertificationRequest csr =
        new JcaPKCS10CertificationRequestBuilder(new X500Name("CN=" + name), pair.getPublic())
            .addAttribute(PKCSObjectIdentifiers.pkcs_9_at_extensionRequest, extensions.generate())
            .build(new JcaContentSignerBuilder(signatures.get(keyType)).build(pair.getPrivate()));
    return List.of("made", text(csr.getEncoded()), text(pair.getPrivate().getEncoded()));
  }

  private List<String> attributes(String label) throws Exception {
    CSRRequestResponse response = builder().withLabel(label).build().getCSRAttributes();
    List<String> answer = new ArrayList<>(List.of("attributes"));
    if (response.hasAttributesResponse())
      response.getAttributesResponse().getRequirements().forEach(oid -> answer.add(oid.getId()));
    return answer;
  }

  /**
   * Words: operation, label, CSR, user name, password, certificate and key of the client, and the version of TLS. Empty ones are left out
   * of the request.
   */
  private List<String> enroll(String[] words) throws Exception {
    JsseESTServiceBuilder builder = builder().withTLSVersion(words[7]);
    if (!words[5].isEmpty()) builder.withKeyManagers(keyManagers(bytes(words[5]), bytes(words[6])));
    ESTService service = builder.withLabel(words[1]).build();
    ESTAuth auth = words[3].isEmpty() ? null : new JcaHttpAuthBuilder(words[3], words[4].toCharArray()).build();
    EnrollmentResponse earlier = waiting.remove(words[2]);
    EnrollmentResponse response = earlier != null ? service.simpleEnroll(earlier) : send(service, words, auth);
    if (!response.isCompleted()) {
      waiting.put(words[2], response);
      long waitMs = response.getNotBefore() - System.currentTimeMillis();
      return List.of("waiting", "" + Math.round(waitMs / 1000.0));
    }
    List<String> answer = certificates(response.getStore());
    if (response.getPrivateKeyInfo() == null) return answer;
    answer.set(0, "generated");
    answer.add(1, text(response.getPrivateKeyInfo().getEncoded()));
    return answer;
  }

  private static EnrollmentResponse send(ESTService service, String[] words, ESTAuth auth) throws Exception {
    PKCS10CertificationRequest csr = new PKCS10CertificationRequest(bytes(words[2]));
    return words[0].equals("serverkeygen")
        ? service.simpleEnrollWithServersideCreation(csr, auth)
        : service.simpleEnroll(words[0].equals("simplereenroll"), csr, auth);
  }

  private JsseESTServiceBuilder builder() {
    return new JsseESTServiceBuilder(server, trusted);
  }

  private static KeyManager[] keyManagers(byte[] certificate, byte[] key) throws Exception {
    X509Certificate[] chain = {readCertificate(certificate)};
    KeyFactory factory = KeyFactory.getInstance(chain[0].getPublicKey().getAlgorithm());
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry("device", factory.generatePrivate(new PKCS8EncodedKeySpec(key)), new char[0], chain);
    return JcaJceUtils.createKeyManagerFactory("SunX509", null, store, new char[0]).getKeyManagers();
  }

  private static List<String> certificates(Store<X509CertificateHolder> store) throws IOException {
    List<String> answer = new ArrayList<>(List.of("certificates"));
    for (X509CertificateHolder certificate : ESTService.storeToArray(store)) answer.add(text(certificate.getEncoded()));
    return answer;
  }

  private static X509Certificate readCertificate(byte[] encoded) throws CertificateException {
    return (X509Certificate)
        CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(encoded));
  }

  private static String bodyOf(ESTException e) {
    try (InputStream body = e.getBody()) {
      return body == null ? "" : oneLine(new String(body.readAllBytes(), UTF_8));
    } catch (IOException unreadable) {
      return "";
    }
  }

  private static List<String> failed(Exception e) {
    StringWriter trace = new StringWriter();
    e.printStackTrace(new PrintWriter(trace));
    return List.of("failed", oneLine(trace.toString()));
  }

  private static String oneLine(String text) {
    return text.strip().replaceAll("\\s+", " ");
  }

  private static byte[] bytes(String base64) {
    return Base64.getDecoder().decode(base64);
  }

  private static String text(byte[] der) {
    return Base64.getEncoder().encodeToString(der);
  }
}
