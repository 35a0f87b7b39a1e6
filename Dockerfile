# The bridge as a container image: docker build --tag scheduled-events-bridge .
# How to run it: infra/kubernetes/README.md.
# The simulator, for tests: docker build --target simulator --tag scheduled-events-simulator .
#
# assumption: install-container-image
# The bases are pinned by exact tags. A release pins their content as well:
#   --build-arg BUILD_IMAGE=node:24.21.0-trixie-slim@sha256:… --build-arg RUN_IMAGE=debian:trixie-20260824-slim@sha256:…
# The first brings npm and the second nothing but glibc and libstdc++: what runs is the Node of package-lock.json, as in the packages.
ARG BUILD_IMAGE=node:24.21.0-trixie-slim
ARG RUN_IMAGE=debian:trixie-20260824-slim

FROM ${BUILD_IMAGE} AS sources
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .

FROM sources AS build
WORKDIR /opt/scheduled-events-bridge
# Set by a release for reproducible files; otherwise the current time.
ARG SOURCE_DATE_EPOCH
RUN SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(date +%s)}" node /source/infra/package/image.ts . \
 && install --directory --owner=65532 --group=65532 --mode=0700 /state/scheduled-events-bridge \
 && install --directory --owner=65532 --group=65532 compile-cache
# Node may write its compile cache nowhere in a container whose root is read-only, so it is made here, by the very user, since
# the cache is kept by user: half a second and 10 MB less at every start. Nothing answers in here: what counts is
# that it runs, and ends with 0 when it is asked to.
USER 65532:65532
RUN NODE_COMPILE_CACHE=/opt/scheduled-events-bridge/compile-cache \
    SCHEDULED_EVENTS_BRIDGE_IMDS_ENDPOINT=http://127.0.0.1:1 \
    SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_FULLY_QUALIFIED_NAMESPACE=127.0.0.1 \
    SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_EVENT_HUB_NAME=none \
    SCHEDULED_EVENTS_BRIDGE_SINKS_LOG_ANALYTICS_ENDPOINT=https://127.0.0.1:1 \
    SCHEDULED_EVENTS_BRIDGE_SINKS_LOG_ANALYTICS_RULE_ID=dcr-00000000000000000000000000000000 \
    SCHEDULED_EVENTS_BRIDGE_STATE_DIRECTORY=/tmp/state \
    timeout --preserve-status 30 ./node --max-semi-space-size=1 scheduled-events-bridge.cjs run \
 && chmod --recursive a+rX,a-w compile-cache

FROM sources AS build-simulator
WORKDIR /opt/scheduled-events-simulator
RUN node /source/infra/package/image.ts --simulator .

# Listens on loopback, so clients share its network: docker run --network host scheduled-events-simulator simulate freeze
# In a network of its own: docker run --hostname azure scheduled-events-simulator simulate --host azure
FROM ${RUN_IMAGE} AS simulator
LABEL org.opencontainers.image.title="scheduled-events-simulator" \
      org.opencontainers.image.description="Simulates Scheduled Events, Event Hubs and Logs Ingestion of Azure, for tests of scheduled-events-bridge" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build-simulator /opt/scheduled-events-simulator /opt/scheduled-events-simulator
WORKDIR /opt/scheduled-events-simulator
ENV PATH=/opt/scheduled-events-simulator:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER 65532:65532
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "scheduled-events-simulator.cjs"]
CMD ["simulate"]

FROM ${RUN_IMAGE}
LABEL org.opencontainers.image.title="scheduled-events-bridge" \
      org.opencontainers.image.description="Watches the Scheduled Events of an Azure VM and delivers what happened to Event Hubs and Log Analytics" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /opt/scheduled-events-bridge /opt/scheduled-events-bridge
# Its owner and mode go over to a volume that is made for it. No instruction of this stage needs a shell.
COPY --from=build --chown=65532:65532 /state /var/lib
VOLUME /var/lib/scheduled-events-bridge
WORKDIR /opt/scheduled-events-bridge
# The port is one of the VM, on loopback, since the container has the network of its host: another number where it is taken.
ENV PATH=/opt/scheduled-events-bridge:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    NODE_COMPILE_CACHE=/opt/scheduled-events-bridge/compile-cache \
    MALLOC_ARENA_MAX=1 \
    MALLOC_MMAP_THRESHOLD_=32768 \
    SCHEDULED_EVENTS_BRIDGE_HTTP_PORT=9842
# A number, so that Kubernetes can see that it is not root.
USER 65532:65532
STOPSIGNAL SIGTERM
# Whether its loops progress. A destination that is down is no reason to start it again.
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 \
  CMD ["node", "--eval", "require('node:http').get('http://127.0.0.1:' + process.env.SCHEDULED_EVENTS_BRIDGE_HTTP_PORT + '/livez', (answer) => { process.exitCode = answer.statusCode === 200 ? 0 : 1; answer.pipe(process.stdout); })"]
ENTRYPOINT ["node", "--max-semi-space-size=1", "scheduled-events-bridge.cjs"]
CMD ["run"]
