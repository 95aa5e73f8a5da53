# The operator, and beside it the command `chancery` with the server, from this checkout: no shell, no package manager, nobody's
# rights.
#   docker build -t chancery:0.1.0 .
#   docker run chancery:0.1.0 operator/dist/main.js --help
#   docker run -v chancery:/data chancery:0.1.0 engine/bin/chancery.js serve --data /data
# The target `agent` is for agents and the pods of their runs. It has git and ssh for modules, a shell for provisioners, and no terraform:
# agents download the tool, or an image that is built from this one contains it.
#   docker build --target agent -t chancery-agent:0.1.0 .
#   docker run --env CHANCERY_TOKEN chancery-agent:0.1.0 agent --engine-url https://chancery.example --isolation none
# Both images may be given with a digest: --build-arg RUNTIME_IMAGE=gcr.io/distroless/nodejs26-debian13@sha256:…
ARG BUILD_IMAGE=node:26-trixie-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs26-debian13:nonroot

FROM ${BUILD_IMAGE} AS build
WORKDIR /app
# What is installed depends on these alone.
COPY package.json package-lock.json tsconfig.base.json LICENSE ./
COPY engine/package.json engine/
COPY engine/testing/package.json engine/testing/
COPY operator/package.json operator/
COPY provider/package.json provider/
COPY examples/policy-service/package.json examples/policy-service/
RUN npm ci --no-audit --no-fund
COPY engine engine/
COPY operator operator/
RUN npm exec -- tsc -b engine operator
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund --workspace engine --workspace operator
# What was built from stays here; what runs can be read by everybody and changed by nobody.
RUN rm -rf */src */testing */scripts */deploy */tsconfig* && chmod -R a+rX,go-w node_modules engine operator

FROM ${BUILD_IMAGE} AS agent
RUN apt-get update && \
  apt-get install --yes --no-install-recommends ca-certificates git openssh-client && \
  rm -rf /var/lib/apt/lists/* && \
  groupadd --gid 65532 agent && \
  useradd --uid 65532 --gid agent --home-dir /data --no-create-home --shell /usr/sbin/nologin agent && \
  useradd --system --no-create-home --shell /usr/sbin/nologin chancery-runs && \
  install --directory --owner agent --group agent --mode 0700 /data && \
  ln -s /app/engine/bin/chancery.js /usr/local/bin/chancery
ENV NODE_ENV=production
COPY --from=build /app/LICENSE /app/
COPY --from=build /app/node_modules /app/node_modules/
COPY --from=build /app/engine /app/engine/
COPY --from=build /app/operator /app/operator/
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["chancery"]
CMD ["agent", "--help"]

FROM ${RUNTIME_IMAGE}
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/LICENSE ./
COPY --from=build /app/node_modules node_modules/
COPY --from=build /app/engine engine/
COPY --from=build /app/operator operator/
USER 65532:65532
EXPOSE 8080 8420
ENTRYPOINT ["/nodejs/bin/node"]
CMD ["operator/dist/main.js"]
