import { expect, it } from 'vitest'
import { drawStory } from './draw/draw-story.ts'
import { shrinkStory } from './shrink-story.ts'
import type { Deed, Story } from './story.ts'

const deed = (number: number): Deed => ({ number, kind: 'nothing', atMs: number })

it('a long story that breaks a promise is cut down to the two deeds that it takes, or nobody finds the cause among the rest', async () => {
  const { shape, ending } = drawStory(1)
  const story: Story = {
    seed: 1,
    shape,
    work: [0, 1, 2, 3].map(deed),
    faults: [100, 101, 102, 103, 104, 105].map(deed),
    ending,
  }
  const run = async ({ work, faults }: Story) => {
    const numbers = new Set([...work, ...faults].map(({ number }) => number))
    const isBroken = numbers.has(2) && numbers.has(104)
    return { violations: isBroken ? [{ rule: 'S1', sentence: 'data was lost', second: 1 }] : [] }
  }
  const shortest = await shrinkStory(story, 'S1', run)
  expect([...shortest.work, ...shortest.faults].map(({ number }) => number)).toEqual([2, 104])
})

it('a story that breaks another promise when it is cut stays as it was, or the trace would be of something else', async () => {
  const story = drawStory(3)
  const whole = story.work.length + story.faults.length
  const run = async ({ work, faults }: Story) => {
    const rule = work.length + faults.length === whole ? 'S1' : 'L8'
    return { violations: [{ rule, sentence: 'something', second: 1 }] }
  }
  expect(await shrinkStory(story, 'S1', run)).toEqual(story)
})
