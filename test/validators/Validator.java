// Validates many certificates, CRLs and OCSP answers in one process. Its only argument is a file that names them, one a
// line: kind, name, path, paths of certificates up to the root between commas, and the expected status, between tabs; what
// the paths hold is DER. A CRL with a status tells nothing about certificates. Prints a line "name TAB code TAB detail" for each finding and at the end how many it checked.
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.*;
import java.util.*;

public class Validator {
  /** X.500 names, keys and extensions are parsed once for each certificate, however many hang below it. */
  private static final Map<String, X509Certificate> certificates = new HashMap<>();
  private static final CertificateFactory factory;

  static {
    try {
      factory = CertificateFactory.getInstance("X.509");
    } catch (CertificateException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  public static void main(String[] args) throws Exception {
    List<X509CRL> crls = new ArrayList<>();
    int checked = 0;
    List<String[]> rest = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      String[] fields = line.split("\t", -1);
      if (fields[0].equals("crl")) {
        validateCrl(fields, crls);
        checked++;
      } else {
        rest.add(fields);
      }
    }
    CertStore store = CertStore.getInstance("Collection", new CollectionCertStoreParameters(crls));
    for (String[] fields : rest) {
      if (fields[0].equals("certificate")) validateCertificate(fields, store);
      else validateAnswer(fields);
      checked++;
    }
    System.out.println("checked " + checked);
  }

  private static void validateCrl(String[] fields, List<X509CRL> crls) throws Exception {
    try {
      X509CRL crl = (X509CRL) factory.generateCRL(new ByteArrayInputStream(Files.readAllBytes(Path.of(fields[2]))));
      if (fields[4].isEmpty()) crls.add(crl);
      crl.verify(readCertificate(fields[3].split(",")[0]).getPublicKey());
      if (crl.hasUnsupportedCriticalExtension()) say(fields[1], "critical extension", crl.getCriticalExtensionOIDs());
      if (crl.getNextUpdate() == null) say(fields[1], "no next update", "");
      else if (crl.getNextUpdate().before(new Date())) say(fields[1], "expired", crl.getNextUpdate());
      if (crl.getVersion() != 2) say(fields[1], "version", crl.getVersion());
      // Reads every entry and its extensions.
      if (crl.getRevokedCertificates() != null) {
        for (X509CRLEntry entry : crl.getRevokedCertificates()) {
          if (entry.hasUnsupportedCriticalExtension()) say(fields[1], "critical extension", entry);
          entry.getRevocationReason();
        }
      }
    } catch (Exception e) {
      say(fields[1], e);
    }
  }

  private static void validateCertificate(String[] fields, CertStore crls) throws Exception {
    List<X509Certificate> chain;
    try {
      chain = readChain(fields[2], fields[3]);
      if (chain.size() == 1) chain.get(0).verify(chain.get(0).getPublicKey());
    } catch (Exception e) {
      say(fields[1], e);
      return;
    }
    PKIXParameters parameters = parameters(chain);
    parameters.addCertStore(crls);
    parameters.setRevocationEnabled(false);
    if (!fields[4].isEmpty()) {
      PKIXRevocationChecker checker = checker();
      checker.setOptions(
          EnumSet.of(PKIXRevocationChecker.Option.PREFER_CRLS, PKIXRevocationChecker.Option.NO_FALLBACK));
      parameters.addCertPathChecker(checker);
    }
    expect(fields[1], validate(chain, parameters), fields[4]);
  }

  private static void validateAnswer(String[] fields) throws Exception {
    // Nothing above the issuer has an answer here, so that it is where the path ends.
    List<X509Certificate> chain = readChain(fields[3]).subList(0, 2);
    PKIXParameters parameters = parameters(chain);
    PKIXRevocationChecker checker = checker();
    checker.setOptions(EnumSet.of(PKIXRevocationChecker.Option.NO_FALLBACK));
    checker.setOcspResponses(Map.of(chain.get(0), Files.readAllBytes(Path.of(fields[2]))));
    parameters.setRevocationEnabled(false);
    parameters.addCertPathChecker(checker);
    expect(fields[1], validate(chain, parameters), fields[4]);
  }

  private static PKIXParameters parameters(List<X509Certificate> chain) throws Exception {
    return new PKIXParameters(Set.of(new TrustAnchor(chain.get(chain.size() - 1), null)));
  }

  private static PKIXRevocationChecker checker() throws Exception {
    return (PKIXRevocationChecker) CertPathValidator.getInstance("PKIX").getRevocationChecker();
  }

  private static Exception validate(List<X509Certificate> chain, PKIXParameters parameters) {
    try {
      CertPath path = factory.generateCertPath(chain.subList(0, chain.size() - 1));
      CertPathValidator.getInstance("PKIX").validate(path, parameters);
      return null;
    } catch (Exception e) {
      return e;
    }
  }

  private static void expect(String name, Exception outcome, String status) {
    boolean revoked =
        outcome instanceof CertPathValidatorException e
            && e.getReason() == CertPathValidatorException.BasicReason.REVOKED;
    if (status.equals("revoked")) {
      if (outcome == null) say(name, "not revoked", "");
      else if (!revoked) say(name, outcome);
    } else if (outcome != null) {
      say(name, outcome);
    }
  }

  private static List<X509Certificate> readChain(String... lists) throws Exception {
    List<X509Certificate> chain = new ArrayList<>();
    for (String list : lists) {
      if (!list.isEmpty()) for (String path : list.split(",")) chain.add(readCertificate(path));
    }
    return chain;
  }

  private static X509Certificate readCertificate(String path) throws Exception {
    X509Certificate known = certificates.get(path);
    if (known != null) return known;
    byte[] der = Files.readAllBytes(Path.of(path));
    X509Certificate certificate = (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(der));
    certificates.put(path, certificate);
    return certificate;
  }

  private static void say(String name, Exception e) {
    Object code = e.getClass().getSimpleName();
    if (e instanceof CertPathValidatorException path && path.getReason() != CertPathValidatorException.BasicReason.UNSPECIFIED)
      code = path.getReason();
    say(name, code.toString(), e.getMessage());
  }

  private static void say(String name, String code, Object detail) {
    String text = String.valueOf(detail).replaceAll("\\s+", " ");
    System.out.println(name + "\t" + code + "\t" + (text.length() > 500 ? text.substring(0, 500) : text));
  }
}
