import { join } from 'node:path'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { describeKubeApiContract } from '@cofferdam/kubernetes/client/kube-api.contract.ts'
import type { ControlPlane } from './control-plane/control-plane.ts'
import { startControlPlane } from './control-plane/start-control-plane.ts'
import { findKubernetes } from './parts/find-kubernetes.ts'
import { openJournal } from './processes/journal.ts'
import { openLabFolder } from './processes/lab-folder.ts'
import { standStill } from './processes/stand-still.ts'

describeKubeApiContract('the HTTP client, on a real API server', async () => {
  const parts = await findKubernetes((line) => console.error(line))
  const folder = await openLabFolder('contract')
  const journal = openJournal(join(folder.logs, 'journal.log'))
  const plane = await startControlPlane({ parts, folder, journal })
  const { api, daemons } = plane
  const stopHeartbeat = await keepNode(plane)
  return {
    api,
    async holdDisruptionController() {
      await standStill(daemons.controllerManager)
      return () => daemons.controllerManager.signal('SIGCONT')
    },
    async close() {
      stopHeartbeat()
      await plane.close()
      await folder.remove()
    },
  }
})

/**
 * Keeps the node alive that the stories put pods on: pods of a node that is absent or silent are cleared away after a
 * while. It is cordoned, so that the scheduler leaves pods alone that the stories leave without a node.
 */
async function keepNode({ api }: ControlPlane): Promise<() => void> {
  const name = 'contract-node'
  await api.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { unschedulable: true } })
  const beat = async () => {
    const lastHeartbeatTime = new Date().toISOString().replace(/\.\d+/, '')
    const body = { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Contract', lastHeartbeatTime }] } }
    await api.patch(nodes, { name }, { type: 'strategic', body }, { subresource: 'status' })
  }
  await beat()
  const timer = setInterval(() => void beat(), 10_000)
  return () => clearInterval(timer)
}
