import type { KubernetesParts } from '../parts/parts.ts'
import type { Credentials } from './credentials.ts'

export interface Ports {
  readonly etcd: number
  readonly etcdPeer: number
  readonly apiserver: number
  readonly controllerManager: number
  readonly scheduler: number
}

type Command = readonly [string, ...string[]]

/** Without these controllers nothing in the lab would move; all others would only cost time. */
const usualControllers = [
  'clusterrole-aggregation-controller',
  'daemonset-controller',
  'deployment-controller',
  'disruption-controller',
  'garbage-collector-controller',
  'job-controller',
  'namespace-controller',
  'node-lifecycle-controller',
  'pod-garbage-collector-controller',
  'replicaset-controller',
  'serviceaccount-controller',
  'statefulset-controller',
  'taint-eviction-controller',
  'ttl-after-finished-controller',
]

/** What pods need that run as containers: the certificate of the server, and the ways to each other. */
export const controllersForRealNodes = [
  ...usualControllers,
  'endpointslice-controller',
  'root-ca-certificate-publisher-controller',
]

export function etcdCommand(parts: KubernetesParts, ports: Ports, dataFolder: string): Command {
  const client = `http://127.0.0.1:${ports.etcd}`
  const peer = `http://127.0.0.1:${ports.etcdPeer}`
  return [
    parts.etcd,
    ...flags({
      name: 'lab',
      'data-dir': dataFolder,
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `lab=${peer}`,
      // What it holds is thrown away with the lab.
      'unsafe-no-fsync': 'true',
      'quota-backend-bytes': String(8 * 1024 ** 3),
      'log-level': 'warn',
    }),
  ]
}

export interface AuditFiles {
  readonly policy: string
  readonly log: string
}

export function apiserverCommand(
  parts: KubernetesParts,
  ports: Ports,
  { files }: Credentials,
  { audit, address }: { readonly audit: AuditFiles; readonly address?: string | undefined },
): Command {
  return [
    parts.kubeApiserver,
    ...flags({
      'etcd-servers': `http://127.0.0.1:${ports.etcd}`,
      'bind-address': '127.0.0.1',
      'secure-port': String(ports.apiserver),
      'advertise-address': '127.0.0.1',
      'endpoint-reconciler-type': 'none',
      'tls-cert-file': files.serverCertificate,
      'tls-private-key-file': files.serverKey,
      'client-ca-file': files.authority,
      'token-auth-file': files.tokens,
      'service-account-issuer': 'https://kubernetes.default.svc',
      'service-account-key-file': files.accountPublicKey,
      'service-account-signing-key-file': files.accountKey,
      // So many that an address which was given back is nobody else's when it is asked for again.
      'service-cluster-ip-range': '10.0.0.0/16',
      'authorization-mode': 'RBAC',
      'allow-privileged': 'true',
      // Pods without a container mount no token; with the plugin each would wait for its account.
      'disable-admission-plugins': 'ServiceAccount',
      profiling: 'false',
      'audit-policy-file': audit.policy,
      'audit-log-path': audit.log,
      // Without these the controller manager complains for ever.
      'requestheader-client-ca-file': files.authority,
      'requestheader-allowed-names': 'none',
      'requestheader-username-headers': 'X-Remote-User',
      'requestheader-group-headers': 'X-Remote-Group',
      'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
      ...(address === undefined ? {} : flagsForRealNodes(address)),
    }),
  ]
}

/** As a distribution sets them: containers reach the server at its address, and kubelets have their own rights alone. */
function flagsForRealNodes(address: string): Record<string, string> {
  return {
    'bind-address': '0.0.0.0',
    'advertise-address': address,
    'endpoint-reconciler-type': 'lease',
    'kubelet-preferred-address-types': 'InternalIP',
    'authorization-mode': 'Node,RBAC',
    'enable-admission-plugins': 'NodeRestriction',
    'disable-admission-plugins': '',
    'service-cluster-ip-range': '10.0.0.0/24',
  }
}

export function controllerManagerCommand(
  parts: KubernetesParts,
  ports: Ports,
  { files }: Credentials,
  {
    kubeconfig,
    controllers = usualControllers,
  }: { readonly kubeconfig: string; readonly controllers?: readonly string[] },
): Command {
  return [
    parts.kubeControllerManager,
    ...flags({
      ...servingFlags(ports.controllerManager, files, kubeconfig),
      kubeconfig,
      'leader-elect': 'false',
      'use-service-account-credentials': 'false',
      'service-account-private-key-file': files.accountKey,
      'root-ca-file': files.authority,
      'kube-api-qps': '500',
      'kube-api-burst': '1000',
      controllers: controllers.join(','),
    }),
  ]
}

export function schedulerCommand(
  parts: KubernetesParts,
  ports: Ports,
  { files }: Credentials,
  { kubeconfig, config }: { readonly kubeconfig: string; readonly config: string },
): Command {
  return [parts.kubeScheduler, ...flags({ ...servingFlags(ports.scheduler, files, kubeconfig), config })]
}

/** What the scheduler takes only from a file. */
export function schedulerConfig(kubeconfig: string): object {
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    leaderElection: { leaderElect: false },
    clientConnection: { kubeconfig, qps: 500, burst: 1000 },
  }
}

/** The server's own certificate serves all: each would otherwise make one, which takes a while. */
function servingFlags(port: number, files: Credentials['files'], kubeconfig: string): Record<string, string> {
  return {
    'bind-address': '127.0.0.1',
    'secure-port': String(port),
    'tls-cert-file': files.serverCertificate,
    'tls-private-key-file': files.serverKey,
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    profiling: 'false',
  }
}

function flags(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`)
}
