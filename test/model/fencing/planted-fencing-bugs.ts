import { known } from '@cofferdam/product/shared/observed.ts'
import { realFencing } from './fencing-model.ts'
import type { FencingBounds, FencingParts } from './fencing-state.ts'

export const silentNode: FencingBounds = {
  name: 'a node that falls silent',
  deaths: 1,
  hasDrain: false,
  mayReturn: false,
}
export const twoSilentNodes: FencingBounds = {
  name: 'two nodes that fall silent',
  deaths: 2,
  hasDrain: false,
  mayReturn: true,
}
export const plannedReboot: FencingBounds = { name: 'a reboot on plan', deaths: 0, hasDrain: true, mayReturn: false }
export const rebootBeside: FencingBounds = {
  name: 'a reboot on plan, and a node that falls silent',
  deaths: 1,
  hasDrain: true,
  mayReturn: true,
}

/** Mistakes about fencing, each with the story in which it does harm. */
export const plantedFencingBugs = {
  'a reboot on plan is not asked for': {
    parts: {
      ...realFencing,
      decideFencing: (seen) => realFencing.decideFencing({ ...seen, reboots: known([]) }),
    },
    bounds: plannedReboot,
  },
  'what has to be kept since is kept with the next pass': {
    parts: {
      ...realFencing,
      decideFencingPass: (snapshot, decide) => {
        const pass = realFencing.decideFencingPass(snapshot, decide)
        if (snapshot.state === 'blind' || snapshot.announced === undefined) return pass
        const isPause = (step: (typeof pass.steps)[number]) =>
          step.do === 'write' && step.what === 'gate' && step.change.kind === 'pause'
        return { ...pass, steps: pass.steps.filter((step) => !isPause(step)) }
      },
    },
    bounds: plannedReboot,
  },
  'who holds the storage does not matter to fencing': {
    parts: {
      ...realFencing,
      storageHolders: (ledger, cluster, about) => ({
        ...realFencing.storageHolders(ledger, cluster, about),
        heldBy: known([]),
      }),
    },
    bounds: rebootBeside,
  },
  'a drain does not ask whether fencing is closed': {
    parts: { ...realFencing, gateOf: () => 'closed' },
    bounds: rebootBeside,
  },
  'a fence holds nothing in the ledger': {
    parts: { ...realFencing, holdFence: (ledger) => ({ ledger, epoch: undefined }) },
    bounds: silentNode,
  },
  'all data is always clean to fencing': {
    parts: {
      ...realFencing,
      decideFencing: (seen) =>
        realFencing.decideFencing({
          ...seen,
          clusters: seen.clusters.map((each) =>
            each.evidence.known
              ? {
                  ...each,
                  evidence: known({ ...each.evidence.value, isClean: known(true), polledAtMs: seen.nowMs + 60_000 }),
                }
              : each,
          ),
        }),
    },
    bounds: twoSilentNodes,
  },
  'no budget is ever opened': {
    parts: {
      ...realFencing,
      decideFencingPass: (snapshot, decide) => {
        const pass = realFencing.decideFencingPass(snapshot, decide)
        return { ...pass, steps: pass.steps.filter((step) => !(step.do === 'write' && step.what === 'open-budget')) }
      },
    },
    bounds: silentNode,
  },
} satisfies Record<string, { readonly parts: FencingParts; readonly bounds: FencingBounds }>
