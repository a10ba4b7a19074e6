import { describe, expect, it } from 'vitest'
import { drawStory } from './draw/draw-story.ts'
import { runStory } from './run-story.ts'

const seeds = Array.from({ length: 4 }, (_, index) => 1 + index)

describe('whole clusters, with all that people do and all that breaks', () => {
  it.each(seeds)('seed %i breaks no promise, comes to rest, and nothing is written for a day', async (seed) => {
    const { violations, trace } = await runStory(drawStory(seed))
    expect(violations, trace.join('\n')).toEqual([])
  })

  it('a seed tells the same story twice, or what it finds cannot be found again', async () => {
    const [first, second] = [await runStory(drawStory(3)), await runStory(drawStory(3))]
    expect(second.trace).toEqual(first.trace)
    expect(second.hash).toBe(first.hash)
  })
})
