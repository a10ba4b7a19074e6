import { placeText } from '../server/longhorn-view-model.ts'
import type { NodeState, NodeViewModel } from '../server/node-view-model.ts'
import { LockMark } from './lock-mark.tsx'
import { MoveBar } from './longhorn-panel.tsx'
import { inWave } from './plan-panel.tsx'
import { More, PodChip } from './pod-chip.tsx'
import { addressOf } from './route.ts'

export const nodeStateWords: Record<NodeState, string> = {
  ready: 'Ready',
  cordoned: 'Cordoned',
  draining: 'Draining',
  drained: 'Drained',
  'not-ready': 'NotReady',
  unknown: 'NotReady',
  gone: 'Gone',
}

const mostChips = 40

/** One node, coloured by its verdict; its name leads to the full explanation. */
export function NodePanel({ model, isShort = false }: { model: NodeViewModel; isShort?: boolean }) {
  const { node, state, tone, pods, podCount, heldBy, longhorn, machine } = model
  const isInWave = inWave.value.has(node.id)
  return (
    <li class={`node ${state} ${tone} ${isInWave ? 'in-wave' : ''}`}>
      <div class="node-head">
        <h4>
          <a class="explain-link" href={addressOf(`node/${node.id}`)}>
            {node.id}
          </a>
        </h4>
        {isInWave ? <span class="pill wave-pill">In this wave</span> : null}
        <span class="pill">{nodeStateWords[state]}</span>
      </div>
      <Verdict model={model} />
      <p class="node-facts">{factsOf(model)}</p>
      {longhorn === undefined ? null : (
        <>
          <p class="node-facts">{placeText(longhorn)}</p>
          <MoveBar place={longhorn} />
        </>
      )}
      {machine === undefined ? null : <p class="node-facts">{machine}</p>}
      {isShort ? null : (
        <ul class="chips" aria-label={`Pods on ${node.id}`}>
          {pods.slice(0, mostChips).map((pod) => (
            <PodChip key={pod.id} pod={pod} heldBy={heldBy.get(pod.id)} />
          ))}
          <More count={podCount - Math.min(pods.length, mostChips)} />
          {podCount === 0 ? <li class="none">no pods</li> : null}
        </ul>
      )}
    </li>
  )
}

/** Whether it may be drained now, in the words of `explain`. */
function Verdict({ model: { state, verdict } }: { model: NodeViewModel }) {
  if (state === 'gone') return <p class="node-verdict">Its Node was deleted; these pods are still bound to it.</p>
  if (verdict === undefined) return null
  if (verdict.blocker === undefined) return <p class="node-verdict">{verdict.summary}</p>
  const { object, reason, holder } = verdict.blocker
  const more = (verdict.blockers ?? 1) - 1
  return (
    <p class="node-verdict held">
      <LockMark /> {verdict.summary} {object} ({reason}){holder === object ? '' : `, held by ${holder}`}
      {more === 0 ? '' : `, and ${more} more`}.
    </p>
  )
}

function factsOf({ node, podCount, toMove, pods }: NodeViewModel): string {
  if (node.reason !== undefined) return node.reason
  if (toMove > 0) return `${toMove} ${toMove === 1 ? 'pod' : 'pods'} still to move`
  return [
    ...node.roles.filter((role) => role !== 'worker').map((role) => role.replaceAll('-', ' ')),
    ...(node.rack === undefined ? [] : [`rack ${node.rack}`]),
    ...(node.cpu === undefined ? [] : [`${node.cpu} CPU`]),
    ...(node.memory === undefined ? [] : [node.memory]),
    ...(node.version === undefined ? [] : [node.version]),
    ...(pods.length === podCount ? [] : [`${podCount} pods`]),
  ].join(' · ')
}
