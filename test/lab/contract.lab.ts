import { join } from 'node:path'
import { describeKubeApiContract } from '../../src/kube/kube-api.contract.ts'
import { startControlPlane } from './control-plane/start-control-plane.ts'
import { findKubernetes } from './parts/find-kubernetes.ts'
import { openJournal } from './processes/journal.ts'
import { openLabFolder } from './processes/lab-folder.ts'

describeKubeApiContract('the HTTP client, on a real API server', async () => {
  const parts = await findKubernetes((line) => console.error(line))
  const folder = await openLabFolder('contract')
  const journal = openJournal(join(folder.logs, 'journal.log'))
  const plane = await startControlPlane({ parts, folder, journal })
  return {
    api: plane.api,
    async close() {
      await plane.close()
      await folder.remove()
    },
  }
})
