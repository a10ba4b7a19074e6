import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { startDemo } from '@cofferdam/product/cli/demo/start-demo.ts'
import { createLog } from '@cofferdam/product/operator/log.ts'
import { readClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'

const root = resolve(import.meta.dirname, '../..')

export interface OpenDemo {
  readonly url: string
  readonly api: KubeApi
  stop(): Promise<void>
}

/** What `npm start` shows, ready for the first click. */
export async function openDemo(file = 'examples/clusters/default.yaml'): Promise<OpenDemo> {
  const home = mkdtempSync(join(tmpdir(), 'cofferdam-browser-'))
  const demo = await startDemo({
    description: await readClusterFile(join(root, file)),
    clock: realClock,
    random: seededRandom(1),
    kubePort: 0,
    dashboardPort: 0,
    pageDirectory: join(root, 'dist/page'),
    kubeconfigPath: join(home, 'kubeconfig'),
    log: createLog('silent'),
  })
  const stop = async () => {
    await demo.stop()
    rmSync(home, { recursive: true, force: true })
  }
  const { waitingFor } = await demo.whenReady({ withinMs: 40_000, signal: new AbortController().signal })
  if (waitingFor.length > 0 || demo.dashboardUrl === undefined) {
    await stop()
    throw new Error(`the demo is not ready: ${waitingFor.join(', ')}`)
  }
  return { url: demo.dashboardUrl, api: demo.api, stop }
}
