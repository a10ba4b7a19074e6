import type { BudgetVerdict } from '../../explain/budget-verdict.ts'
import type { BudgetView } from '../server/cluster-view.ts'

/** Those that hold something come first; `kubectl get pdb -A` lists all. */
const mostRows = 40

export function BudgetsTable({
  budgets,
  verdictOf,
}: {
  budgets: readonly BudgetView[]
  verdictOf: (budget: BudgetView) => BudgetVerdict
}) {
  const urgencies = { alarm: 0, busy: 1, calm: 2 }
  const sorted = budgets
    .map((budget) => ({ budget, verdict: verdictOf(budget) }))
    .sort((a, b) => urgencies[a.verdict.tone] - urgencies[b.verdict.tone] || (a.budget.id < b.budget.id ? -1 : 1))
  const more = sorted.length - mostRows
  return (
    <section class="budgets panel" aria-labelledby="budgets-title">
      <h2 id="budgets-title">Disruption budgets</h2>
      {sorted.length === 0 ? (
        <p class="empty">No PodDisruptionBudgets. Any pod may be evicted at any time.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section class="table-frame" tabIndex={0} aria-label="Budgets, a table that scrolls">
          <table>
            <thead>
              <tr>
                <th scope="col">Budget</th>
                <th scope="col">Next eviction</th>
                <th scope="col">Pods</th>
                <th scope="col" class="number">
                  Healthy
                </th>
                <th scope="col" class="number">
                  Needed
                </th>
                <th scope="col" class="number">
                  Allowed
                </th>
              </tr>
            </thead>
            <tbody>
              {sorted.slice(0, mostRows).map(({ budget, verdict }) => (
                <BudgetRow key={budget.id} budget={budget} verdict={verdict} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {more > 0 ? <p class="soft more-budgets">and {more} more, none of them more urgent than these</p> : null}
    </section>
  )
}

function BudgetRow({ budget, verdict }: { budget: BudgetView; verdict: BudgetVerdict }) {
  const name = budget.id.slice(budget.namespace.length + 1)
  return (
    <tr>
      <th scope="row" class="name">
        <span class="namespace">{budget.namespace}/</span>
        {name}
        <div class="soft">{budget.rule}</div>
      </th>
      <td class="wraps">
        <span class={`verdict ${verdict.tone}`}>{verdict.says}</span>
      </td>
      <td>
        <Pips budget={budget} />
      </td>
      <td class="number">{budget.healthy}</td>
      <td class="number">{budget.desired}</td>
      <td class="number">{budget.allowed}</td>
    </tr>
  )
}

const mostPips = 12

/** One mark per expected pod, needed ones before the line: the numbers beside it, seen at a glance. */
function Pips({ budget: { healthy, desired, expected } }: { budget: BudgetView }) {
  if (expected > mostPips) return null
  const marks = Array.from({ length: expected }, (_, index) => (index < healthy ? 'pip' : 'pip missing'))
  return (
    <span class="pips" aria-hidden="true">
      {marks.map((kind, index) => (
        <span key={index} class={index === desired && index > 0 ? `${kind} spare` : kind} />
      ))}
    </span>
  )
}
