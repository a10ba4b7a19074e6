import type { Outcome } from './run-story.ts'
import type { Deed, Story } from './story.ts'

/** How often a story is told again at most while it is made shorter. */
const mostTries = 40

/**
 * A shorter story that breaks the same promise: halves of its deeds are left out first, then single ones, for as long as it still does.
 * Deeds draw from their own numbers, so that those that stay do what they did.
 */
export async function shrinkStory(
  story: Story,
  rule: string,
  run: (story: Story) => Promise<Pick<Outcome, 'violations'>>,
): Promise<Story> {
  let tries = 0
  let shortest = story
  const isSame = async (candidate: Story) => {
    tries += 1
    return (await run(candidate)).violations.some((violation) => violation.rule === rule)
  }
  for (let size = Math.ceil(deedsOf(story).length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < deedsOf(shortest).length && tries < mostTries; ) {
      const dropped = new Set(deedsOf(shortest).slice(at, at + size))
      const candidate = without(shortest, dropped)
      if (await isSame(candidate)) shortest = candidate
      else at += size
    }
  }
  return shortest
}

function deedsOf({ faults, work }: Story): readonly Deed[] {
  return [...faults, ...work]
}

function without(story: Story, dropped: ReadonlySet<Deed>): Story {
  const stays = (deed: Deed) => !dropped.has(deed)
  return { ...story, work: story.work.filter(stays), faults: story.faults.filter(stays) }
}
