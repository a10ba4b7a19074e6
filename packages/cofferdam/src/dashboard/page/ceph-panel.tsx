import type { CephDomain } from '../../explain/ceph-verdict.ts'
import type { CephView } from '../server/cluster-view.ts'
import { addressOf } from './route.ts'

/** Whether something of it is held, away or complained of. */
export function isCephTroubled({ health, counts, domains, isUnattended }: CephView): boolean {
  const isDown = domains.some(({ isPartlyDown }) => isPartlyDown === true)
  const isUnhealthy = health !== undefined && health !== 'HEALTH_OK'
  return counts.held + counts.away > 0 || isDown || isUnhealthy || isUnattended === true
}

/** How each Ceph cluster is: its health, its failure domains and why each may or may not go, its monitors and noout. */
export function CephPanels({ clusters }: { clusters: readonly CephView[] }) {
  return (
    <>
      {clusters.map((cluster) => (
        <CephPanel key={cluster.id} cluster={cluster} />
      ))}
    </>
  )
}

const healthTones: Readonly<Record<string, string>> = { HEALTH_OK: 'calm', HEALTH_WARN: 'busy', HEALTH_ERR: 'alarm' }

function CephPanel({ cluster }: { cluster: CephView }) {
  const { id, health, checks, summary, explanation, isUnattended, mons, state, problems } = cluster
  const title = `ceph-${id}`
  return (
    <section class="ceph panel" aria-labelledby={title}>
      <div class="section-head">
        <h2 id={title}>Ceph {id}</h2>
        <p>
          {health === undefined ? (
            <span class="verdict busy">Health unknown</span>
          ) : (
            <span class={`verdict ${healthTones[health] ?? 'busy'}`}>{health}</span>
          )}
        </p>
      </div>
      <p class="ceph-says">
        <a class="explain-link" href={addressOf(`cephcluster/${id}`)}>
          {summary}
        </a>
      </p>
      {explanation === undefined ? null : <p class="soft">{explanation}</p>}
      {isUnattended === true ? (
        <p class="notice busy">No operator runs: what is said of this cluster is what was recorded last.</p>
      ) : null}
      <Domains cluster={cluster} />
      <dl class="facts">
        <Fact name="Placement groups">{state.placementGroups}</Fact>
        <Fact name="Monitors">
          {state.quorum}; {mons.ready} of {mons.total} pods ready
        </Fact>
        <Fact name="noout">{state.noout}</Fact>
        {checks.map(({ name, message }) => (
          <Fact key={name} name={name}>
            {message}
          </Fact>
        ))}
        {problems.map((problem) => (
          <Fact key={problem} name="Problem">
            {problem}
          </Fact>
        ))}
      </dl>
    </section>
  )
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div class="fact-row">
      <dt class="fact-name">{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

const stateTones = { free: 'calm', held: 'busy', away: 'alarm' } as const

function Domains({ cluster: { type, domains, counts } }: { cluster: CephView }) {
  const more = counts.free + counts.held + counts.away - domains.length
  return (
    <ul class="domains" aria-label={`Failure domains: ${type}`}>
      {domains.map((domain) => (
        <Domain key={domain.name} domain={domain} type={type} />
      ))}
      {more > 0 ? (
        <li class="soft">
          and {more} more: {counts.free} may go, {counts.held} held, {counts.away} away in all
        </li>
      ) : null}
    </ul>
  )
}

function Domain({ domain, type }: { domain: CephDomain; type: string }) {
  const { name, state, isPartlyDown, says, osds, nodes, why, ends } = domain
  const tone = isPartlyDown === true ? 'alarm' : stateTones[state]
  return (
    <li class={`domain ${tone}`}>
      <p>
        <strong>
          {type} {name}
        </strong>{' '}
        <span class={`verdict ${tone}`}>{says}</span>
      </p>
      <p class="soft">
        osd {osds}
        {nodes.length === 0 || nodes.length > 6 ? '' : `, on ${nodes.join(', ')}`}
      </p>
      {why === undefined ? null : <p>{why}</p>}
      {ends === undefined ? null : <p class="soft">Ends with: {ends}</p>}
    </li>
  )
}
