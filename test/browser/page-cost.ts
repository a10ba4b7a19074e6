import type { Page } from 'playwright-core'

export interface PageCost {
  /** As they came over the wire. */
  receivedBytes(): number
  /** Milliseconds that the page has spent in its script, with what that calls, and on layout and style. */
  spentMs(): Promise<{ readonly script: number; readonly drawing: number }>
}

/** Counts what a page costs from now on; to be asked before it goes anywhere. */
export async function countPageCost(page: Page): Promise<PageCost> {
  const session = await page.context().newCDPSession(page)
  let received = 0
  let script = 0
  await session.send('Network.enable')
  await session.send('Performance.enable')
  // The browser's own ScriptDuration leaves out what runs when a promise resolves, which is all that a stream brings.
  await session.send('Profiler.enable')
  await session.send('Profiler.setSamplingInterval', { interval: 100 })
  await session.send('Profiler.start')
  session.on('Network.dataReceived', ({ encodedDataLength }) => {
    received += encodedDataLength
  })
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    received += encodedDataLength
  })
  return {
    receivedBytes: () => received,
    async spentMs() {
      const { profile } = await session.send('Profiler.stop')
      await session.send('Profiler.start')
      script += scriptMsOf(profile)
      const { metrics } = await session.send('Performance.getMetrics')
      const of = (wanted: string) => 1_000 * (metrics.find(({ name }) => name === wanted)?.value ?? 0)
      return { script, drawing: of('LayoutDuration') + of('RecalcStyleDuration') }
    },
  }
}

export function countElements(page: Page): Promise<number> {
  return page.evaluate<number>("document.querySelectorAll('*').length")
}

/** Counts the elements put in, taken out or written anew from now on; the answer tells how many there were. */
export async function countStrokes(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`
    window.strokes = 0
    new MutationObserver((records) => {
      for (const { type, addedNodes, removedNodes } of records)
        window.strokes += type === 'childList' ? addedNodes.length + removedNodes.length : 1
    }).observe(document.documentElement, { subtree: true, childList: true, attributes: true, characterData: true })`)
  return () => page.evaluate<number>('window.strokes')
}

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly url: string }
    readonly children?: readonly number[]
  }[]
  readonly samples?: readonly number[]
  readonly timeDeltas?: readonly number[]
}

/** The time in functions of the page's own files, and in what they call. What the test itself runs in the page has no address. */
function scriptMsOf({ nodes, samples = [], timeDeltas = [] }: Profile): number {
  const own = new Set<number>()
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const mark = (id: number) => {
    own.add(id)
    for (const child of byId.get(id)?.children ?? []) mark(child)
  }
  for (const { id, callFrame } of nodes) if (!own.has(id) && callFrame.url.startsWith('http')) mark(id)
  return samples.reduce((sum, id, at) => (own.has(id) ? sum + (timeDeltas[at] ?? 0) : sum), 0) / 1_000
}
