import { ageText } from './age-text.ts'
import { now, view } from './connection.ts'
import { heldText, podStateWords, pointedPod } from './pod-chip.tsx'

const width = 288
const gap = 8

/** Details of a pod chip: one floating box, kept inside the window. */
export function PodDetail() {
  const pointed = pointedPod.value
  const pod = pointed === undefined ? undefined : view.value?.pods.find(({ id }) => id === pointed.id)
  if (pointed === undefined || pod === undefined) return <div id="pod-detail" role="tooltip" hidden />

  const { left, top, bottom } = pointed.box
  const isLow = bottom > window.innerHeight * 0.6
  const place = {
    width: `${width}px`,
    left: `${Math.max(gap, Math.min(left, window.innerWidth - width - gap))}px`,
    ...(isLow ? { bottom: `${window.innerHeight - top + gap}px` } : { top: `${bottom + gap}px` }),
  }
  const facts: [string, string | undefined][] = [
    ['State', pod.reason === undefined ? podStateWords[pod.state] : `${podStateWords[pod.state]}: ${pod.reason}`],
    ['Held by', pointed.heldBy === undefined ? undefined : heldText(pointed.heldBy)],
    ['Part of', pod.ownerKind === undefined ? undefined : `${pod.ownerKind} ${pod.app}`],
    ['Node', pod.node],
    ['Address', pod.address],
    ['Age', pod.createdAt === undefined ? undefined : ageText(pod.createdAt, now.value)],
    ['Restarts', pod.restarts === 0 ? undefined : String(pod.restarts)],
  ]
  return (
    <div id="pod-detail" role="tooltip" class="detail" style={place}>
      <p class="detail-title">
        <span class="namespace">{pod.namespace}/</span>
        {pod.name}
      </p>
      <dl>
        {facts.map(([label, value]) =>
          value === undefined ? null : (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </div>
  )
}
