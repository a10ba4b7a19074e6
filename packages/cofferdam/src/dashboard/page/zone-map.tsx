import type { NodeView } from '../server/cluster-view.ts'
import type { ClusterViewModel, NodeState, NodeViewModel, ZoneViewModel } from '../server/cluster-view-model.ts'
import { placeText } from '../server/longhorn-view-model.ts'
import { LockMark } from './lock-mark.tsx'
import { MoveBar } from './longhorn-panel.tsx'
import { PodChip } from './pod-chip.tsx'

const stateWords: Record<NodeState, string> = {
  ready: 'Ready',
  cordoned: 'Cordoned',
  draining: 'Draining',
  drained: 'Drained',
  'not-ready': 'Not ready',
  unknown: 'Silent',
}

const mostChips = 40

export function ZoneMap({ model }: { model: ClusterViewModel }) {
  return (
    <section class="zones" aria-labelledby="zones-title">
      <div class="section-head">
        <h2 id="zones-title">Nodes</h2>
        <Legend />
      </div>
      <div class="zone-grid">
        {model.zones.map((zone) => (
          <Zone key={zone.zone} zone={zone} />
        ))}
      </div>
      {model.waiting.length === 0 ? null : (
        <div class="unplaced">
          <h3>Waiting for a node</h3>
          <ul class="chips">
            {model.waiting.slice(0, mostChips).map((pod) => (
              <PodChip key={pod.id} pod={pod} />
            ))}
            <More count={model.waiting.length - mostChips} />
          </ul>
        </div>
      )}
    </section>
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
        held by a budget
      </li>
    </ul>
  )
}

function Zone({ zone: { zone, nodes } }: { zone: ZoneViewModel }) {
  const pods = nodes.reduce((sum, node) => sum + node.pods.length, 0)
  const title = zone === '' ? 'No zone' : `Zone ${zone}`
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

function NodePanel({ model: { node, state, pods, heldBy, toMove, longhorn, machine } }: { model: NodeViewModel }) {
  return (
    <li class={`node ${state}`}>
      <div class="node-head">
        <h4>{node.id}</h4>
        <span class="pill">{stateWords[state]}</span>
      </div>
      <p class="node-facts">{factsOf(node, { toMove, held: heldBy.size })}</p>
      {longhorn === undefined ? null : (
        <>
          <p class="node-facts">{placeText(longhorn)}</p>
          <MoveBar place={longhorn} />
        </>
      )}
      {machine === undefined ? null : <p class="node-facts">{machine}</p>}
      <ul class="chips" aria-label={`Pods on ${node.id}`}>
        {pods.slice(0, mostChips).map((pod) => (
          <PodChip key={pod.id} pod={pod} heldBy={heldBy.get(pod.id)} />
        ))}
        <More count={pods.length - mostChips} />
        {pods.length === 0 ? <li class="none">no pods</li> : null}
      </ul>
    </li>
  )
}

function factsOf(node: NodeView, { toMove, held }: { toMove: number; held: number }): string {
  const facts = [
    ...node.roles.filter((role) => role !== 'worker').map((role) => role.replaceAll('-', ' ')),
    ...(node.rack === undefined ? [] : [`rack ${node.rack}`]),
    ...(node.cpu === undefined ? [] : [`${node.cpu} CPU`]),
    ...(node.memory === undefined ? [] : [node.memory]),
    ...(node.version === undefined ? [] : [node.version]),
  ]
  if (node.reason !== undefined) return node.reason
  if (held > 0) return `${held} of ${toMove} ${toMove === 1 ? 'pod' : 'pods'} held by a budget`
  if (toMove > 0) return `${toMove} ${toMove === 1 ? 'pod' : 'pods'} still to move`
  return facts.join(' · ')
}

function More({ count }: { count: number }) {
  return count > 0 ? <li class="none">and {count} more</li> : null
}
