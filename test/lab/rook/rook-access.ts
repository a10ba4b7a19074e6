import { copyFile, mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Lab } from '../lab.ts'
import { followLines } from '../machines/follow-lines.ts'
import { rookVersion } from '../parts/build-rook.ts'
import { type Daemon, startDaemon } from '../processes/daemon.ts'

/** As whom Rook's code talks to the API server. */
export const rookAccount = 'rook-ceph-system'

/** What Rook tells besides its debugging. */
const worthTelling = / [IWE] \| |PASS \d+ |updating OSDs: /

/**
 * What Rook's operator finds in its environment: a ServiceAccount with every right, Ceph's configuration and the key of its administrator,
 * where its ceph command looks for them.
 */
async function rookEnvironment({ plane, ceph, folder, namespace, kubectlWith }: Lab): Promise<Record<string, string>> {
  const place = join(resolve(folder.path), 'rook')
  await mkdir(join(place, namespace), { recursive: true })
  const { conf = '', keyring = '' } = ceph.admin
  await copyFile(conf, join(place, namespace, `${namespace}.config`))
  await copyFile(keyring, join(place, namespace, 'client.admin.keyring'))
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: rookAccount, namespace } }
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: rookAccount },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: rookAccount, namespace }],
  }
  const list = { apiVersion: 'v1', kind: 'List', items: [account, binding, operator(namespace)] }
  await kubectlWith(JSON.stringify(list), 'apply', '-f', '-')
  const kubeconfig = await plane.kubeconfigOf({ namespace, name: rookAccount })
  return { KUBECONFIG: kubeconfig, ROOK_CONFIG_DIR: place, POD_NAMESPACE: namespace }
}

/** By which everybody knows that Rook runs. Its pod has no process: the programs with Rook's code are its parts. */
function operator(namespace: string): object {
  const labels = { app: 'rook-ceph-operator' }
  const image = `registry.example/rook/ceph:v${rookVersion}`
  const template = { metadata: { labels }, spec: { containers: [{ name: 'rook-ceph-operator', image }] } }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'rook-ceph-operator', namespace, labels: { operator: 'rook', 'storage-backend': 'ceph' } },
    spec: { replicas: 1, selector: { matchLabels: labels }, strategy: { type: 'Recreate' }, template },
  }
}

export interface RookProcess {
  readonly name: string
  readonly program: string
  readonly args?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly onLine?: (line: string) => void
}

/** Starts a program with Rook's code; its whole log is beside the others, what matters of it in the journal. */
export async function startRook(
  lab: Lab,
  { name, program, args = [], environment, onLine }: RookProcess,
): Promise<Daemon> {
  const { journal, folder } = lab
  const logFile = join(folder.logs, `${name}.log`)
  const access = await rookEnvironment(lab)
  const stopFollowing = followLines(logFile, (line) => {
    if (worthTelling.test(line)) journal.tell(name, line)
    onLine?.(line)
  })
  const daemon = startDaemon({
    name,
    command: [program, ...args],
    environment: { ...access, ...environment },
    logFile,
    journal,
  })
  void daemon.ended.then(stopFollowing)
  return daemon
}
