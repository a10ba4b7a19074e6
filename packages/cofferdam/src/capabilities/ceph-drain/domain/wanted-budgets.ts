import type { Layout, PlacedOsd } from './layout.ts'
import {
  defaultBudgetName,
  domainBudgetName,
  isSameBudget,
  unplacedBudgetName,
  type WantedBudget,
} from './osd-budgets.ts'
import type { OsdBudget } from './snapshot.ts'

/** Any one OSD may go; those that nothing waits for do not count. */
export function defaultBudget(maxUnavailable: number, exceptOsds: Iterable<number>): WantedBudget {
  const except = [...new Set(exceptOsds)].sort((a, b) => a - b)
  return { name: defaultBudgetName, maxUnavailable, selector: { covers: 'all', exceptOsds: except } }
}

/**
 * Holds every failure domain that is not released.
 *
 * Guarantees: each OSD outside the released domains is selected by exactly one of the budgets, the others by none.
 */
export function blockingBudgets(layout: Layout, released: ReadonlySet<string>): WantedBudget[] {
  return blocksFor(layout, (domain) => !released.has(domain))
}

/**
 * The default budget, closed for all but the released domains: one write, after which no OSD is under two budgets. It stands before the
 * blocks do, and as long as another failure domain is being drained. An eviction that meets two budgets is refused for good, and whoever
 * drains then waits for OSDs that nobody asks for any more.
 *
 * Undefined when the blocks may take its place, or do already.
 */
export function closedDefault(
  layout: Layout,
  released: readonly string[],
  standing: readonly OsdBudget[],
): WantedBudget[] | undefined {
  const present = standing.find(({ name, isOurs }) => name === defaultBudgetName && isOurs)
  if (present?.selector.covers !== 'all') return undefined
  const isOpen = (name: string | undefined) => name !== undefined && released.includes(name)
  const free = layout.osds.filter(({ domain, label }) => isOpen(domain) && (label === undefined || isOpen(label)))
  const closed = defaultBudget(
    0,
    free.map(({ id }) => id),
  )
  const isDrainedElsewhere = layout.domains.some(({ name, leaving }) => !released.includes(name) && leaving.length > 0)
  return isDrainedElsewhere || !isSameBudget(present, closed) ? [closed] : undefined
}

/**
 * Lets the first OSD go only where its whole domain may follow: a budget for those, blocks for the rest.
 *
 * Guarantees: each OSD that is needed is selected by exactly one of the budgets.
 */
export function partialBudgets(layout: Layout, held: ReadonlySet<string>): WantedBudget[] {
  const isHeld = (domain: string) => held.has(domain)
  const blocks = blocksFor(layout, isHeld)
  const blocked = layout.osds.filter((osd) => isHeldByLabel(osd, isHeld) || isHeldSingly(osd, isHeld))
  const down = layout.osds.filter(({ id, isDown }) => isDown && layout.unneeded.has(id))
  return [
    defaultBudget(
      1,
      [...blocked, ...down].map(({ id }) => id),
    ),
    ...blocks,
  ]
}

/** The same budgets, and these OSDs held by number besides. */
export function alsoHolding(budgets: readonly WantedBudget[], osds: readonly number[]): WantedBudget[] {
  if (osds.length === 0) return [...budgets]
  const held = budgets.flatMap(({ selector }) => (selector.covers === 'osds' ? selector.osds : []))
  const ids = [...new Set([...held, ...osds])].sort((a, b) => a - b)
  const others = budgets.filter(({ name }) => name !== unplacedBudgetName)
  return [...others, { name: unplacedBudgetName, maxUnavailable: 0, selector: { covers: 'osds', osds: ids } }]
}

function blocksFor(layout: Layout, isHeld: (domain: string) => boolean): WantedBudget[] {
  const { type, osds } = layout
  const labels = [...new Set(osds.flatMap(({ label }) => (label === undefined ? [] : [label])))].filter(isHeld).sort()
  const single = osds.filter((osd) => isHeldSingly(osd, isHeld))
  const blocks: WantedBudget[] = labels.map((domain) => ({
    name: domainBudgetName(type, domain),
    maxUnavailable: 0,
    selector: { covers: 'domain', type, domain },
  }))
  if (single.length === 0) return blocks
  const ids = single.map(({ id }) => id)
  return [...blocks, { name: unplacedBudgetName, maxUnavailable: 0, selector: { covers: 'osds', osds: ids } }]
}

function isHeldByLabel({ label }: PlacedOsd, isHeld: (domain: string) => boolean): boolean {
  return label !== undefined && isHeld(label)
}

function isHeldSingly(osd: PlacedOsd, isHeld: (domain: string) => boolean): boolean {
  return !isHeldByLabel(osd, isHeld) && (osd.domain === undefined || isHeld(osd.domain))
}

/** Which OSDs a set of budgets selects; as a function of sets, because clusters have thousands of both. */
export function coverOf(
  budgets: readonly Pick<OsdBudget, 'selector'>[],
): (osd: Pick<PlacedOsd, 'id' | 'topology'>) => boolean {
  const single = new Set<number>()
  const domains = new Map<string, Set<string>>()
  const exceptions: ReadonlySet<number>[] = []
  for (const { selector } of budgets) {
    if (selector.covers === 'all') exceptions.push(new Set(selector.exceptOsds))
    if (selector.covers === 'osds') for (const id of selector.osds) single.add(id)
    if (selector.covers === 'domain') {
      domains.set(selector.type, (domains.get(selector.type) ?? new Set()).add(selector.domain))
    }
  }
  const byType = [...domains]
  return ({ id, topology }) =>
    single.has(id) ||
    exceptions.some((except) => !except.has(id)) ||
    byType.some(([type, names]) => names.has(topology[type] ?? ''))
}
