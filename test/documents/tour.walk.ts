import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { createCommands } from '@cofferdam/product/cli/commands.ts'
import { startDemo } from '@cofferdam/product/cli/demo/start-demo.ts'
import { runTour } from '@cofferdam/product/cli/demo/tour/run-tour.ts'
import { createTerminal } from '@cofferdam/product/cli/terminal.ts'
import { createLog } from '@cofferdam/product/operator/log.ts'
import { parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import { expect, it } from 'vitest'

/** Real time, several times as fast: the commands talk to the cluster over HTTP, which no virtual clock knows of. */
function fastClock(speed: number): Clock {
  const began = realClock.now()
  return {
    now: () => began + (realClock.now() - began) * speed,
    after: (delayMs, callback) => realClock.after(delayMs / speed, callback),
  }
}

it('the tour goes through all its chapters, and each comes out as it says', async () => {
  const home = mkdtempSync(join(tmpdir(), 'cofferdam-tour-'))
  const file = new URL('../../examples/clusters/default.yaml', import.meta.url)
  const clock = fastClock(5)
  const demo = await startDemo({
    description: parseClusterFile(readFileSync(file, 'utf8'), 'default.yaml'),
    clock,
    random: seededRandom(1),
    kubePort: 0,
    dashboardPort: undefined,
    pageDirectory: home,
    kubeconfigPath: join(home, 'kubeconfig'),
    log: createLog('silent'),
  })
  let printed = ''
  const stream = { write: (text: string) => (printed += text) }
  try {
    const { signal } = new AbortController()
    await demo.whenReady({ withinMs: 300_000, signal })
    const result = await runTour({
      api: demo.api,
      clock,
      terminal: createTerminal({ stdout: stream, stderr: stream, environment: {} }),
      signal,
      kubeconfigPath: demo.kubeconfigPath,
      commands: createCommands({ pageDirectory: home, defaultClusterFile: '' }, clock),
      calledAs: 'cofferdam',
      untilNext: async () => undefined,
    })
    expect(result, printed).toEqual({ chapters: 7 })
  } finally {
    await demo.stop()
    rmSync(home, { recursive: true, force: true })
  }
})
