import { join } from 'node:path'
import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { defaultImage, type LonghornDescription } from '@cofferdam/simulator/world/longhorn/longhorn-description.ts'
import { buildManagerDaemonSet } from '@cofferdam/simulator/world/longhorn/manager-daemon-set.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { followLines } from '../machines/follow-lines.ts'
import type { LonghornParts } from '../parts/parts.ts'
import { type Daemon, startDaemon } from '../processes/daemon.ts'
import type { Journal } from '../processes/journal.ts'
import type { LabFolder } from '../processes/lab-folder.ts'

/** As whom Longhorn's code talks to the API server. */
export const longhornAccount = 'longhorn-service-account'

/** Longhorn's is 30 s; nobody has that long to wait between two lines of a suite. */
const resync = '2s'

/** The data plane without any drain handling of its own: neither budgets nor flags nor attachments for moves. */
export function beside(description: LonghornDescription): LonghornDescription {
  const image = description.image ?? defaultImage
  return {
    ...description,
    image,
    ownDrainHandling: false,
    attachForEviction: 'nobody',
    settings: { ...description.settings, 'default-instance-manager-image': image },
  }
}

export interface BrainLab {
  readonly plane: Pick<ControlPlane, 'kubeconfigOf'>
  readonly folder: Pick<LabFolder, 'logs'>
  readonly journal: Journal
  kubectlWith(input: object, ...args: readonly string[]): Promise<unknown>
}

/** Starts Longhorn's own drain handling, as the pods of its DaemonSet would run it. Resolves when it has read everything once. */
export async function startBrain({ brain }: Pick<LonghornParts, 'brain'>, lab: BrainLab): Promise<Daemon> {
  const { plane, folder, journal } = lab
  const namespace = longhornNamespace
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: longhornAccount, namespace } }
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: longhornAccount },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: longhornAccount, namespace }],
  }
  const items = [account, binding, buildManagerDaemonSet(namespace)]
  await lab.kubectlWith({ apiVersion: 'v1', kind: 'List', items }, 'apply', '-f', '-')
  const kubeconfig = await plane.kubeconfigOf({ namespace, name: longhornAccount })
  const name = 'longhorn-brain'
  const logFile = join(folder.logs, `${name}.log`)
  return new Promise((resolve, reject) => {
    const stopFollowing = followLines(logFile, (line) => {
      journal.tell(name, line)
      if (line.includes('the caches are filled')) resolve(daemon)
    })
    const command = [brain, '-kubeconfig', kubeconfig, '-namespace', namespace, '-resync', resync] as const
    const daemon = startDaemon({ name, command, logFile, journal })
    void daemon.ended.then(() => {
      stopFollowing()
      reject(new Error(`Longhorn's code ended; see ${logFile}`))
    })
  })
}
