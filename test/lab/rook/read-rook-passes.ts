/** One pass of Rook's OSD loop, as its log tells it. */
export interface RookPass {
  readonly image: string
  /** OSDs that it took on together and whose Deployments it wrote, changed or not; those that it skipped by their label are not among them. */
  readonly batches: readonly (readonly number[])[]
  /** Undefined while it runs. */
  readonly seconds: number | undefined
  readonly error: string | undefined
}

const begin = /PASS (\d+) begins with image=(\S+)/
const end = /PASS (\d+) ended after ([\d.]+) s, error=(.*)$/
const batch = /op-osd: updating OSDs: \[/
const one = /op-osd: updating OSD (\d+) on /

/** Collects passes, line by line. */
export function readRookPasses(): {
  readonly line: (text: string) => void
  readonly passes: () => readonly RookPass[]
} {
  interface Reading {
    image: string
    batches: number[][]
    seconds: number | undefined
    error: string | undefined
  }
  const passes = new Map<string, Reading>()
  return {
    line(text) {
      const [, begun, image] = begin.exec(text) ?? []
      if (begun !== undefined && image !== undefined)
        passes.set(begun, { image, batches: [], seconds: undefined, error: undefined })
      const batches = [...passes.values()].at(-1)?.batches
      if (batch.test(text)) batches?.push([])
      const [, osd] = one.exec(text) ?? []
      if (osd !== undefined) batches?.at(-1)?.push(Number(osd))
      // One that a changed spec has cancelled may end after the next has begun.
      const [, ended = '', seconds, error] = end.exec(text) ?? []
      const pass = passes.get(ended)
      if (pass === undefined) return
      pass.seconds = Number(seconds)
      pass.error = error === '<nil>' ? undefined : error
    },
    passes: () =>
      [...passes.values()].map((pass) => ({ ...pass, batches: pass.batches.filter(({ length }) => length > 0) })),
  }
}

/** Which OSDs got this image together: the first time that Rook wrote each of them. Later passes write the same again. */
export function roundsOf(passes: readonly RookPass[], image: string): number[][] {
  const seen = new Set<number>()
  const rounds: number[][] = []
  for (const osds of passes.filter((pass) => pass.image === image).flatMap(({ batches }) => batches)) {
    const fresh = osds.filter((osd) => !seen.has(osd))
    for (const osd of fresh) seen.add(osd)
    if (fresh.length > 0) rounds.push(fresh.sort((a, b) => a - b))
  }
  return rounds
}
