import { Fragment } from 'preact'
import { progressText, ruleText } from '../../capabilities/longhorn-drain/view/longhorn-text.ts'
import type { LonghornPanelModel, LonghornPlace } from '../server/longhorn-panel-model.ts'
import { movedShare } from '../server/longhorn-view-model.ts'
import { LockMark } from './lock-mark.tsx'

/** Who decides drains of Longhorn's nodes, how its volumes are, and what holds the nodes that leave. */
export function LonghornPanel({ panel }: { panel: LonghornPanelModel | undefined }) {
  if (panel === undefined) return null
  const leaving = panel.places.filter((place) => place.leaving !== undefined)
  const { total, healthy, degraded, faulted, unknown } = panel.volumes
  const volumes: [count: number, word: string, tone: string][] = [
    [healthy, 'healthy', 'calm'],
    [degraded, 'degraded', 'busy'],
    [faulted, 'faulted', 'alarm'],
    [unknown, 'not in use', 'calm'],
  ]
  return (
    <section class="longhorn panel" aria-labelledby="longhorn-title">
      <h2 id="longhorn-title">Longhorn</h2>
      <p class="longhorn-rule">{ruleText(panel)}</p>
      <p class="soft">
        {total} {total === 1 ? 'volume' : 'volumes'}{' '}
        {volumes.map(([count, word, tone]) =>
          count === 0 ? null : (
            <Fragment key={word}>
              <span class={`verdict ${tone}`}>
                {count} {word}
              </span>{' '}
            </Fragment>
          ),
        )}
      </p>
      {leaving.length === 0 ? null : (
        <ul class="drain-list">
          {leaving.map((place) => (
            <Leaving key={place.node} place={place} />
          ))}
        </ul>
      )}
      {panel.problems.map(({ object, problem }) => (
        <p key={`${object} ${problem}`} class="soft">
          Problem: {object}: {problem}
        </p>
      ))}
    </section>
  )
}

function Leaving({ place }: { place: LonghornPlace }) {
  const { node, leaving } = place
  if (leaving === undefined) return null
  const more = leaving.held - leaving.holders.length
  return (
    <li>
      <p>
        <strong>{node}</strong>{' '}
        <span class={`verdict ${leaving.mayDrain ? 'calm' : 'busy'}`}>
          {leaving.mayDrain ? 'May go' : `Held: ${leaving.reason}`}
        </span>{' '}
        {leaving.progress === undefined ? null : <span class="soft">{progressText(leaving.progress)}</span>}
      </p>
      <MoveBar place={place} />
      {leaving.holders.map(({ object, explanation, wayOut }) => (
        <p key={object} class="blocker">
          <LockMark /> {explanation} <span class="soft">{wayOut}</span>
        </p>
      ))}
      {more > 0 ? <p class="soft">and {more} more</p> : null}
    </li>
  )
}

/** How much has moved; the words beside it say the same. */
export function MoveBar({ place }: { place: LonghornPlace }) {
  const share = movedShare(place)
  if (share === undefined) return null
  return (
    <div class="track busy" aria-hidden="true">
      <div class="fill" style={{ width: `${100 * share}%` }} />
    </div>
  )
}
