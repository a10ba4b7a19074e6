import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Exec } from '../api-server/http/exec-route.ts'
import type { CephCommands } from '../world/ceph/ceph-commands.ts'
import { runToolboxProgram } from '../world/ceph/toolbox-program.ts'
import { cephImage } from './build-ceph-resources.ts'

const app = 'rook-ceph-tools'

/** Rook's toolbox: the pod in which people, and `cofferdam plan`, ask Ceph. */
export async function addToolbox(api: KubeApi, namespace: string): Promise<void> {
  await api.create(deployments, buildToolbox(namespace), { fieldManager: 'rook' })
}

function buildToolbox(namespace: string): Deployment {
  const labels = { app }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: app, namespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: app, image: cephImage }] } },
    },
  }
}

/** Lets programs run in toolbox pods; behind all other containers of the demo there is nothing that could run one. */
export function createToolboxExec(commandsIn: (namespace: string) => CephCommands | undefined): Exec {
  return ({ pod, container, argv }) => {
    const { namespace = '', labels } = pod.metadata
    const commands = labels?.['app'] === app && container === app ? commandsIn(namespace) : undefined
    return commands && ((signal) => runToolboxProgram(commands, argv, signal))
  }
}
