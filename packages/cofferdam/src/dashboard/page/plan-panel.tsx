import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { estimateText, sameSaid, wavesText } from '../../capabilities/drain-lock/view/plan-words.ts'
import type { PlanForPage } from '../server/dashboard-server.ts'
import { askServer } from './ask-server.ts'
import { addressOf, closeObject, isPlanOpen } from './route.ts'

type Plan = Awaited<ReturnType<PlanForPage>>

const plan = signal<Plan | undefined>(undefined)
const problem = signal('')
const step = signal(0)

/** The nodes of the wave that is shown; none while no plan is. */
export const inWave = computed<ReadonlySet<string>>(
  () => new Set(isPlanOpen.value ? (plan.value?.waves[step.value] ?? []) : []),
)

async function compute(ending: AbortSignal): Promise<void> {
  plan.value = undefined
  problem.value = ''
  step.value = 0
  try {
    const response = await askServer('/api/plan', ending)
    if (response.ok) plan.value = (await response.json()) as Plan
    else problem.value = (await response.text()).trim()
  } catch {
    if (!ending.aborted) problem.value = 'The server does not answer.'
  }
}

/** In which waves all nodes can be rebooted, one wave at a time; its nodes are marked in the map. */
export function PlanPanel() {
  const isOpen = isPlanOpen.value
  useEffect(() => {
    if (!isOpen) return
    const ending = new AbortController()
    void compute(ending.signal)
    return () => ending.abort()
  }, [isOpen])
  if (!isOpen) return null
  return (
    <section class="plan panel" aria-labelledby="plan-title">
      <div class="section-head">
        <h2 id="plan-title">Plan: reboot all nodes</h2>
        <button type="button" class="close" onClick={closeObject} aria-label="Close the plan">
          ×
        </button>
      </div>
      {plan.value === undefined ? (
        <p class="soft" role="status">
          {problem.value === '' ? 'Planning…' : problem.value}
        </p>
      ) : (
        <Waves made={plan.value} />
      )}
      <p class="soft command">
        The same in a terminal: <code>cofferdam plan drain --all</code>
      </p>
    </section>
  )
}

function Waves({ made }: { made: Plan }) {
  const { waves, never, unknown, estimateRestsOn, observedAt } = made
  const at = step.value
  const going = waves.flat().length
  const total = going + never.length + unknown.length
  return (
    <>
      <p class="plan-says">
        <strong>
          {total} {total === 1 ? 'node' : 'nodes'}:{' '}
          {going > 0 ? wavesText(made) : unknown.length > 0 ? 'none is known to go' : 'none can go'}
        </strong>
        {never.length === 0 || going === 0 ? '' : `, ${never.length} can never go`}
        {unknown.length === 0 ? '' : `, ${unknown.length} cannot be judged`}
      </p>
      <p class="soft">
        Estimate {estimateText(made)}: {estimateRestsOn}. As of <time dateTime={observedAt}>{observedAt}</time>.{' '}
        <button type="button" class="again" onClick={() => void compute(new AbortController().signal)}>
          Plan again
        </button>
      </p>
      {going === 0 ? null : (
        <>
          <div class="steps">
            <button type="button" disabled={at === 0} onClick={() => step.value--}>
              Back
            </button>
            <p class="wave-at" role="status">
              Wave {at + 1} of {waves.length}
            </p>
            <button type="button" disabled={at >= waves.length - 1} onClick={() => step.value++}>
              Next
            </button>
          </div>
          <NodeLinks nodes={waves[at] ?? []} />
        </>
      )}
      <Said title="Never as asked" rows={never} />
      <Said title="Not readable, and in no wave" rows={unknown} />
      <Said title="Waits now, and goes in the last waves" rows={made.waits} />
      <Said title="Nothing forbids it, but a drain can stop here" rows={made.foreseen} />
      <Said title="Not known" rows={made.notSeen.map((why) => ({ node: '', why }))} />
    </>
  )
}

const mostLinks = 60

function NodeLinks({ nodes }: { nodes: readonly string[] }) {
  const more = nodes.length - mostLinks
  return (
    <ul class="wave-nodes">
      {nodes.slice(0, mostLinks).map((node) => (
        <li key={node}>
          <a class="explain-link" href={addressOf(`node/${node}`)}>
            {node}
          </a>
        </li>
      ))}
      {more > 0 ? <li class="soft">and {more} more</li> : null}
    </ul>
  )
}

const mostSaid = 12

function Said({ title, rows }: { title: string; rows: Parameters<typeof sameSaid>[0] }) {
  if (rows.length === 0) return null
  const groups = sameSaid(rows)
  const more = groups.length - mostSaid
  return (
    <>
      <h3>{title}</h3>
      <ul class="said">
        {groups.slice(0, mostSaid).map(({ why, nodes }) => (
          <li key={why}>
            {nodes.length === 0 ? null : <NodeLinks nodes={nodes} />}
            <p class="said-why">{why}</p>
          </li>
        ))}
        {more > 0 ? <li class="soft">and {more} more</li> : null}
      </ul>
    </>
  )
}
