import { signal } from '@preact/signals'
import type { ClusterViewModel, ZoneViewModel } from '../server/cluster-view-model.ts'
import type { NodeViewModel } from '../server/node-view-model.ts'
import { LockMark } from './lock-mark.tsx'
import { NodePanel, nodeStateWords } from './node-panel.tsx'
import { inWave } from './plan-panel.tsx'
import { More, PodChip } from './pod-chip.tsx'
import { addressOf, planAddress } from './route.ts'

/** A cluster with more nodes than this shows first what needs attention, and of the rest a mark for each node. */
const mostPanels = 48
const mostFound = 60
const mostWaiting = 40

const search = signal('')

export function ZoneMap({ model }: { model: ClusterViewModel }) {
  const all = model.zones.flatMap(({ nodes }) => nodes)
  const isLarge = all.length > mostPanels
  const words = search.value.trim().toLowerCase()
  return (
    <section class="zones" aria-labelledby="zones-title">
      <div class="section-head">
        <h2 id="zones-title">Nodes</h2>
        <a class="explain-link" href={planAddress}>
          Plan drains of all nodes
        </a>
        <Legend />
      </div>
      {all.length > 12 ? <Search /> : null}
      {words !== '' ? (
        <Found nodes={all.filter((node) => isFound(node, words))} />
      ) : isLarge ? (
        <LargeMap zones={model.zones} all={all} />
      ) : (
        <div class="zone-grid">
          {model.zones.map((zone) => (
            <Zone key={zone.zone} zone={zone} />
          ))}
        </div>
      )}
      {model.waiting.length === 0 ? null : (
        <div class="unplaced">
          <h3>Waiting for a node</h3>
          <ul class="chips">
            {model.waiting.slice(0, mostWaiting).map((pod) => (
              <PodChip key={pod.id} pod={pod} />
            ))}
            <More count={model.waiting.length - mostWaiting} />
          </ul>
        </div>
      )}
    </section>
  )
}

function isFound({ node, state, verdict }: NodeViewModel, words: string): boolean {
  const zone = node.zone === '' ? 'no zone' : `zone ${node.zone}`
  const judged = verdict === undefined ? '' : verdict.mayGo ? 'may go' : `held ${verdict.blocker?.reason ?? ''}`
  const text = [node.id, zone, nodeStateWords[state], judged, node.roles.join(' ')].join(' ').toLowerCase()
  const parts = text.split(' ')
  // A letter or two name a zone; as parts of a word they are everywhere.
  return words.split(/\s+/).every((word) => (word.length < 3 ? parts.includes(word) : text.includes(word)))
}

function Search() {
  return (
    <p class="search">
      <label for="node-search">Search nodes</label>
      <input
        id="node-search"
        type="search"
        placeholder="name, zone, state or reason"
        value={search.value}
        onInput={({ currentTarget }) => {
          search.value = currentTarget.value
        }}
      />
    </p>
  )
}

function Found({ nodes }: { nodes: readonly NodeViewModel[] }) {
  return (
    <>
      <p class="soft" role="status">
        {nodes.length === 1 ? '1 node found' : `${nodes.length} nodes found`}
      </p>
      <ul class="node-list many">
        {nodes.slice(0, mostFound).map((node) => (
          <NodePanel key={node.node.id} model={node} isShort />
        ))}
        <More count={nodes.length - mostFound} />
      </ul>
    </>
  )
}

const urgency: Readonly<Record<NodeViewModel['state'], number>> = {
  gone: 0,
  'not-ready': 1,
  unknown: 1,
  draining: 2,
  cordoned: 3,
  drained: 4,
  ready: 5,
}

/** What needs attention in full, then every zone as a row of marks. */
function LargeMap({ zones, all }: { zones: readonly ZoneViewModel[]; all: readonly NodeViewModel[] }) {
  const urgent = all.filter(({ state }) => state !== 'ready').sort((a, b) => urgency[a.state] - urgency[b.state])
  return (
    <>
      {urgent.length === 0 ? null : (
        <section class="urgent" aria-labelledby="urgent-title">
          <h3 id="urgent-title">Needs attention ({urgent.length})</h3>
          <ul class="node-list many">
            {urgent.slice(0, mostPanels).map((node) => (
              <NodePanel key={node.node.id} model={node} />
            ))}
            <More count={urgent.length - mostPanels} />
          </ul>
        </section>
      )}
      {zones.map((zone) => (
        <CompactZone key={zone.zone} zone={zone} />
      ))}
    </>
  )
}

/** The marks of a zone are made when somebody opens it: thousands of links cost time. */
const openZones = signal<ReadonlySet<string>>(new Set())

function CompactZone({ zone: { zone, nodes } }: { zone: ZoneViewModel }) {
  const isOpen = openZones.value.has(zone)
  const held = nodes.filter(({ tone }) => tone === 'busy').length
  const down = nodes.filter(({ tone }) => tone === 'alarm').length
  const pods = nodes.reduce((sum, node) => sum + node.podCount, 0)
  const facts = [
    `${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`,
    `${pods} pods`,
    ...(down === 0 ? [] : [`${down} down`]),
    held === 0 && down === 0 ? 'all may go' : `${held} closed or held`,
  ]
  return (
    <details
      class="zone compact"
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open === openZones.value.has(zone)) return
        const next = new Set(openZones.value)
        if (currentTarget.open) next.add(zone)
        else next.delete(zone)
        openZones.value = next
      }}
    >
      <summary>
        <span class="zone-name">{zoneTitle(zone)}</span> <span class="soft">{facts.join(' · ')}</span>
        <ZoneBar nodes={nodes} />
      </summary>
      {isOpen ? (
        <ul class="node-marks">
          {nodes.map(({ node, tone, state }) => (
            <li key={node.id}>
              <a
                class={`node-mark ${tone} ${inWave.value.has(node.id) ? 'in-wave' : ''}`}
                href={addressOf(`node/${node.id}`)}
                title={`${node.id}, ${nodeStateWords[state]}`}
              >
                <span class="unseen">
                  {node.id}, {nodeStateWords[state]}
                </span>
              </a>
            </li>
          ))}
        </ul>
      ) : null}
    </details>
  )
}

/** The words beside it say the same. */
function ZoneBar({ nodes }: { nodes: readonly NodeViewModel[] }) {
  return (
    <span class="zone-bar" aria-hidden="true">
      {(['alarm', 'busy', 'calm'] as const).map((tone) => (
        <span key={tone} class={tone} style={{ flexGrow: nodes.filter((node) => node.tone === tone).length }} />
      ))}
    </span>
  )
}

const legend = [
  ['ready', 'ready'],
  ['starting', 'starting'],
  ['pending', 'pending'],
  ['leaving', 'leaving'],
  ['failed', 'failed'],
]

function Legend() {
  return (
    <ul class="legend" aria-label="What the marks on pods mean">
      {legend.map(([state, word]) => (
        <li key={state} class={`chip-key ${state}`}>
          <span class="dot" aria-hidden="true" />
          {word}
        </li>
      ))}
      <li>
        <LockMark />
        may not go now
      </li>
    </ul>
  )
}

function zoneTitle(zone: string): string {
  return zone === '' ? 'No zone' : `Zone ${zone}`
}

function Zone({ zone: { zone, nodes } }: { zone: ZoneViewModel }) {
  const pods = nodes.reduce((sum, node) => sum + node.podCount, 0)
  const title = zoneTitle(zone)
  return (
    <section class="zone" aria-label={title}>
      <header class="zone-head">
        <h3>{title}</h3>
        <p>
          {nodes.length} {nodes.length === 1 ? 'node' : 'nodes'} · {pods} {pods === 1 ? 'pod' : 'pods'}
        </p>
      </header>
      <ul class="node-list">
        {nodes.map((node) => (
          <NodePanel key={node.node.id} model={node} />
        ))}
      </ul>
    </section>
  )
}
