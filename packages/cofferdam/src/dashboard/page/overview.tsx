import type { ClusterViewModel } from '../server/cluster-view-model.ts'
import type { Tone } from '../server/tone.ts'

export function Overview({ model }: { model: ClusterViewModel }) {
  const { headline, counts } = model
  return (
    <section class={`overview ${headline.tone}`} aria-label="Summary">
      <div class="news" role="status" aria-live="polite">
        <p class="headline">{headline.says}</p>
        {headline.more.length === 0 ? null : <p class="more">{headline.more.join(' ')}</p>}
      </div>
      <dl class="meters">
        <Meter label="Nodes ready" value={counts.nodesReady} of={counts.nodes} short="alarm" />
        <Meter label="Pods ready" value={counts.podsReady} of={counts.pods} short="busy" />
        <Meter label="Budgets not blocked" value={counts.budgetsFree} of={counts.budgets} short="busy" />
      </dl>
    </section>
  )
}

function Meter({ label, value, of, short }: { label: string; value: number; of: number; short: Tone }) {
  const share = of === 0 ? 100 : (100 * value) / of
  return (
    <div class={`meter ${value < of ? short : 'calm'}`}>
      <dt>{label}</dt>
      <dd>
        <span class="figure">{value}</span> <span class="of">of {of}</span>
      </dd>
      <div class="track" aria-hidden="true">
        <div class="fill" style={{ width: `${share}%` }} />
      </div>
    </div>
  )
}
