import { generateBudgets, generateEvictions } from './generate-evictions.ts'
import { generateSequence } from './generate-steps.ts'
import { namespaceKind, nodeKind } from './kinds/cluster-kinds.ts'
import { configMapKind } from './kinds/config-map.ts'
import { gaugeKind } from './kinds/gauge.ts'
import { podKind } from './kinds/pod.ts'
import { podDisruptionBudgetKind } from './kinds/pod-disruption-budget.ts'
import { leaseKind, serviceKind } from './kinds/small-kinds.ts'
import { deploymentKind, replicaSetKind } from './kinds/workloads.ts'
import { type KnownDifference, knownDifferenceOf } from './known-differences.ts'
import { type Divergence, type Pair, runSequence, type SequenceResult } from './run-sequence.ts'
import { divergenceMark, shrink } from './shrink.ts'
import type { Side } from './side.ts'
import type { Sequence } from './step.ts'

type Generate = (seed: number) => Sequence

/** What stories are told about; the figure says how many of them for each round. */
export const families: Readonly<Record<string, { readonly share: number; readonly generate: Generate }>> = {
  'custom resources': { share: 2, generate: (seed) => generateSequence(gaugeKind, seed) },
  evictions: { share: 4, generate: generateEvictions },
  'budgets that controllers count for': { share: 2, generate: generateBudgets },
  'config maps': { share: 3, generate: (seed) => generateSequence(configMapKind, seed) },
  pods: { share: 3, generate: (seed) => generateSequence(podKind, seed) },
  deployments: { share: 1, generate: (seed) => generateSequence(deploymentKind, seed) },
  'replica sets': { share: 1, generate: (seed) => generateSequence(replicaSetKind, seed) },
  budgets: { share: 2, generate: (seed) => generateSequence(podDisruptionBudgetKind, seed) },
  nodes: { share: 2, generate: (seed) => generateSequence(nodeKind, seed) },
  namespaces: { share: 1, generate: (seed) => generateSequence(namespaceKind, seed) },
  leases: { share: 1, generate: (seed) => generateSequence(leaseKind, seed) },
  services: { share: 1, generate: (seed) => generateSequence(serviceKind, seed) },
}

export interface Exploration {
  readonly sequences: number
  readonly compared: number
  /** Each shows another fault, in as few steps as it can be shown. */
  readonly divergences: readonly Divergence[]
}

/** So many faults of one family are enough to mend at a time. */
const mostDivergences = 8
/** Sequences that run side by side: much of the time of each is waiting. */
const lanes = 8

/** Tells stories to both servers, and gives each its own namespace. */
export class Explorer {
  readonly #sides: Pair<Side>
  readonly #prefix: string
  readonly #seen = new Map<KnownDifference, number>()
  #told = 0

  constructor(sides: Pair<Side>, prefix: string) {
    this.#sides = sides
    this.#prefix = prefix
  }

  /** How often each known difference has shown. */
  get seen(): ReadonlyMap<KnownDifference, number> {
    return this.#seen
  }

  /** Goes on after a story on which the servers disagree, until there are enough of them. */
  async explore(generate: Generate, seeds: readonly number[]): Promise<Exploration> {
    const divergences = new Map<string, Divergence>()
    const waiting = [...seeds]
    let sequences = 0
    let compared = 0
    const run = (sequence: Sequence) => this.#run(sequence)
    const lane = async () => {
      for (;;) {
        const seed = divergences.size < mostDivergences ? waiting.shift() : undefined
        if (seed === undefined) return
        const result = await run(generate(seed))
        sequences += 1
        compared += result.compared
        if (result.divergence === undefined) continue
        const mark = divergenceMark(result.divergence)
        if (divergences.has(mark)) continue
        divergences.set(mark, result.divergence)
        divergences.set(mark, await shrink(result.divergence, run))
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    return { sequences, compared, divergences: [...divergences.values()] }
  }

  #run(sequence: Sequence): Promise<SequenceResult> {
    this.#told += 1
    return runSequence(this.#sides, {
      sequence,
      namespace: `${this.#prefix}-${this.#told}`,
      excuse: (step, difference, answers) => {
        const known = knownDifferenceOf(difference, step, answers)
        if (known !== undefined) this.#seen.set(known, (this.#seen.get(known) ?? 0) + 1)
        return known !== undefined
      },
    })
  }
}
