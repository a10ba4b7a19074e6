import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../../test/property-runs.ts'
import { drainPolicies } from './snapshot.ts'
import { applyStep, type GuidedNode, type GuidedObjects, lookAt } from './testing/guided-fixture.ts'

const names = ['n1', 'n2', 'n3'] as const
type Name = (typeof names)[number]

type Happening =
  | { readonly is: 'cordon' | 'drain' | 'moving'; readonly node: Name; readonly on: boolean }
  | { readonly is: 'value'; readonly value: string }
  | { readonly is: 'note'; readonly key: 'wanted-policy' | 'manage' | 'trigger'; readonly text: string | undefined }
  | { readonly is: 'evict' | 'schedule'; readonly node: Name; readonly on: boolean }
  /** The guide looks, and dies after so many writes. */
  | { readonly is: 'look'; readonly writes: number }

const node = fc.constantFrom(...names)
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ is: fc.constant('look' as const), writes: fc.integer({ min: 0, max: 3 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({ is: fc.constantFrom('cordon', 'drain', 'moving'), node, on: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ is: fc.constant('value' as const), value: fc.constantFrom(...drainPolicies) }) },
  { weight: 3, arbitrary: fc.record({ is: fc.constantFrom('evict', 'schedule'), node, on: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.oneof(
      fc.record({
        is: fc.constant('note' as const),
        key: fc.constant('wanted-policy' as const),
        text: fc.constantFrom(undefined, 'evict-all', ...drainPolicies),
      }),
      fc.record({
        is: fc.constant('note' as const),
        key: fc.constant('manage' as const),
        text: fc.constantFrom('guide', 'guide', 'observe'),
      }),
      fc.record({
        is: fc.constant('note' as const),
        key: fc.constant('trigger' as const),
        text: fc.constantFrom('cordon', 'drain'),
      }),
    ),
  },
)

const wanting = fc.constantFrom(undefined, ...drainPolicies)

/** The cluster, and beside it what it would be if there were no guide. */
class Cluster {
  seen: GuidedObjects
  his: GuidedObjects
  /** What he touched since the guide last wrote what it had to about it. What happens there between two looks cannot be seen. */
  readonly #unseen = new Set<string>()

  constructor(seen: GuidedObjects) {
    this.seen = seen
    this.his = seen
  }

  happen(happening: Happening): void {
    if (happening.is === 'look') this.#look(happening.writes)
    else if (happening.is === 'value') this.#choose(happening.value)
    else if (happening.is === 'note') this.#note(happening.key, happening.text)
    else if (happening.is === 'evict' || happening.is === 'schedule') this.#spec(happening)
    else this.#surround(happening.node, happening.is, happening.on)
  }

  settle(): void {
    for (const name of names) {
      this.#surround(name, 'cordon', false)
      this.#surround(name, 'drain', false)
      this.#surround(name, 'moving', false)
    }
    for (let round = 0; round < 4; round += 1) this.#look(10)
  }

  #look(writes: number): void {
    const { steps } = lookAt(this.seen).guidance
    for (const step of steps.slice(0, writes)) this.seen = applyStep(this.seen, step)
    const left = new Set(steps.slice(writes).map(({ name }) => name))
    for (const name of this.#unseen) if (!left.has(name)) this.#unseen.delete(name)
  }

  #choose(value: string): void {
    if (this.seen.setting.value === value || this.#unseen.has('node-drain-policy')) return
    this.#unseen.add('node-drain-policy')
    const choose = (world: GuidedObjects) => ({ ...world, setting: { ...world.setting, value } })
    this.seen = choose(this.seen)
    this.his = choose(this.his)
  }

  #note(key: string, text: string | undefined): void {
    const write = (world: GuidedObjects): GuidedObjects => {
      const { [`cofferdam.io/${key}`]: _, ...notes } = world.setting.notes
      const more = text === undefined ? {} : { [`cofferdam.io/${key}`]: text }
      return { ...world, setting: { ...world.setting, notes: { ...notes, ...more } } }
    }
    this.seen = write(this.seen)
    this.his = write(this.his)
  }

  /** What Longhorn refuses, he does not do. */
  #spec({
    is,
    node: name,
    on,
  }: {
    readonly is: 'evict' | 'schedule'
    readonly node: Name
    readonly on: boolean
  }): void {
    const { evict = false, schedule = true } = this.seen.nodes[name] ?? {}
    if (this.#unseen.has(name) || (is === 'evict' ? evict : schedule) === on) return
    if (is === 'schedule' && evict) return
    this.#unseen.add(name)
    const change: GuidedNode =
      is === 'schedule' ? { schedule: on } : on ? { evict: true, schedule: false } : { evict: on }
    this.#change(name, change)
  }

  #surround(name: Name, is: 'cordon' | 'drain' | 'moving', on: boolean): void {
    const field = { cordon: 'isCordoned', drain: 'isDraining', moving: 'isAutoEvicting' } as const
    this.#change(name, { [field[is]]: on })
  }

  #change(name: Name, change: GuidedNode): void {
    const write = (world: GuidedObjects): GuidedObjects => ({
      ...world,
      nodes: { ...world.nodes, [name]: { ...world.nodes[name], ...change } },
    })
    this.seen = write(this.seen)
    this.his = write(this.his)
  }
}

function begin(policies: readonly (string | undefined)[]): GuidedObjects {
  const places = [['n1', 'n2'], ['n2', 'n3'], ['n1']] as const
  const volumes = places.map((nodes, at) => {
    const copies = Object.fromEntries(nodes.map((name) => [name, 'healthy' as const]))
    const policy = policies[at]
    return [`v${at}`, { copies, ...(policy === undefined ? {} : { policy }) }] as const
  })
  const plain = { evict: false, schedule: true, isCordoned: false, isDraining: false, isAutoEvicting: false }
  return {
    setting: { value: 'block-if-contains-last-replica', notes: { 'cofferdam.io/manage': 'guide' } },
    nodes: Object.fromEntries(names.map((name) => [name, plain])),
    volumes: Object.fromEntries(volumes),
  }
}

it('whatever happens and wherever the guide dies: when no node leaves, all is as the administrator last left it', () => {
  let pulled = 0
  fc.assert(
    fc.property(
      fc.array(wanting, { minLength: 3, maxLength: 3 }),
      fc.array(happening, { maxLength: 40, size: 'max' }),
      (policies, happenings) => {
        const cluster = new Cluster(begin(policies))
        for (const one of happenings) {
          cluster.happen(one)
          if (cluster.seen !== cluster.his)
            pulled += JSON.stringify(cluster.seen) === JSON.stringify(cluster.his) ? 0 : 1
        }
        cluster.settle()
        expect(cluster.seen).toEqual(cluster.his)
        expect(lookAt(cluster.seen).guidance.steps).toEqual([])
      },
    ),
    { numRuns: runsOf(500) },
  )
  expect(pulled).toBeGreaterThan(runsOf(500))
})

it('a guide that has done what it decided has nothing more to do', () => {
  fc.assert(
    fc.property(
      fc.array(wanting, { minLength: 3, maxLength: 3 }),
      fc.array(happening, { maxLength: 30 }),
      (policies, happenings) => {
        const cluster = new Cluster(begin(policies))
        for (const one of happenings) cluster.happen(one)
        cluster.happen({ is: 'look', writes: 10 })
        expect(lookAt(cluster.seen).guidance.steps).toEqual([])
      },
    ),
    { numRuns: runsOf(500) },
  )
})
