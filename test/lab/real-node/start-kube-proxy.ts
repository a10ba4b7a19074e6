import { join } from 'node:path'
import type { NodeParts } from '../parts/parts.ts'
import { type Daemon, startDaemon } from '../processes/daemon.ts'
import { freePorts } from '../processes/free-port.ts'
import type { Journal } from '../processes/journal.ts'
import type { LabFolder } from '../processes/lab-folder.ts'

export interface KubeProxyOptions {
  readonly node: string
  readonly kubeconfig: string
  readonly parts: NodeParts
  readonly folder: LabFolder
  readonly journal: Journal
}

/** Makes Services of the cluster ways to pods. One is enough: all nodes of the lab share one network. */
export async function startKubeProxy({ node, kubeconfig, parts, folder, journal }: KubeProxyOptions): Promise<Daemon> {
  const [health, metrics] = await freePorts(2)
  const flags = {
    kubeconfig,
    'hostname-override': node,
    'proxy-mode': 'iptables',
    'healthz-bind-address': `127.0.0.1:${health}`,
    'metrics-bind-address': `127.0.0.1:${metrics}`,
    // Limits of the whole machine, which no namespace may change.
    'conntrack-max-per-core': '0',
    'conntrack-tcp-timeout-established': '0s',
    'conntrack-tcp-timeout-close-wait': '0s',
  }
  const words = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
  const logFile = join(folder.logs, 'kube-proxy.log')
  return startDaemon({ name: 'kube-proxy', command: [parts.kubeProxy, ...words], logFile, journal })
}
