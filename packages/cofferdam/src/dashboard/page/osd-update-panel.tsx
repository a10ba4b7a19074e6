import { useState } from 'preact/hooks'
import type { UpdateOverview } from '../server/osd-update-overview.ts'
import { headUpdate, isOver, type UpdateViewModel } from '../server/osd-update-view-model.ts'
import { osdStates, type PictureOrder, stateWords } from '../server/schedule-picture.ts'
import { ageText } from './age-text.ts'
import { now } from './connection.ts'
import { LockMark } from './lock-mark.tsx'
import { OsdPicture } from './osd-picture.tsx'

/** How updates of OSDs go, at a glance: in words, in numbers and as a picture. */
export function OsdUpdatePanels({ models }: { models: readonly UpdateViewModel[] }) {
  return (
    <>
      {models.map((model) =>
        isOver(model.overview) ? (
          <Finished key={model.overview.of} overview={model.overview} />
        ) : (
          <UnderWay key={model.overview.of} model={model} />
        ),
      )}
    </>
  )
}

function Finished({ overview }: { overview: UpdateOverview }) {
  const { endedMs } = overview
  const at = endedMs === undefined ? undefined : new Date(endedMs).toISOString()
  return (
    <p class="update-over">
      <span class="osd done" aria-hidden="true" /> {headUpdate(overview).says}
      {at === undefined ? null : (
        <>
          ; the last update ended <time dateTime={at}>{ageText(at, now.value)} ago</time>
        </>
      )}
      .
    </p>
  )
}

function UnderWay({ model }: { model: UpdateViewModel }) {
  const { overview, plan } = model
  const [wanted, setWanted] = useState<PictureOrder>('by-round')
  const { tone, says, warning } = headUpdate(overview)
  const order = plan === undefined ? 'by-host' : wanted
  const title = `osd-update-${overview.of}`
  return (
    <section class={`osd-update panel ${tone}`} aria-labelledby={title}>
      <h2 id={title}>OSD update</h2>
      <p class="update-says">{says}</p>
      <StateBar overview={overview} />
      {warning === undefined ? null : (
        <p class="notice" role="status">
          <strong>{warning.reason}</strong> {warning.explanation}
        </p>
      )}
      <Notes overview={overview} />
      {overview.total === 0 ? null : (
        <>
          <div class="section-head">
            <StateKey overview={overview} />
            {plan === undefined ? null : <OrderChoice order={order} choose={setWanted} />}
          </div>
          <OsdPicture model={model} order={order} />
        </>
      )}
    </section>
  )
}

const countOf = {
  done: ({ done }: UpdateOverview) => done,
  'on-the-way': ({ running }: UpdateOverview) => running,
  waits: ({ waiting }: UpdateOverview) => waiting,
  blocked: ({ blocked }: UpdateOverview) => blocked,
  failed: ({ failed }: UpdateOverview) => failed,
}

/** The words above it say the same. */
function StateBar({ overview }: { overview: UpdateOverview }) {
  if (overview.total === 0) return null
  return (
    <div class="state-bar" aria-hidden="true">
      {osdStates.map((state) => (
        <span key={state} class={`osd ${state}`} style={{ flexGrow: countOf[state](overview) }} />
      ))}
    </div>
  )
}

function StateKey({ overview }: { overview: UpdateOverview }) {
  return (
    <ul class="legend" aria-label="What the squares mean, and how many there are">
      {osdStates.map((state) => (
        <li key={state}>
          <span class={`osd ${state}`} aria-hidden="true" />
          {countOf[state](overview)} {state === 'waits' ? 'waiting' : stateWords[state]}
        </li>
      ))}
    </ul>
  )
}

function OrderChoice({ order, choose }: { order: PictureOrder; choose: (order: PictureOrder) => void }) {
  const choices: [PictureOrder, string][] = [
    ['by-round', 'By round'],
    ['by-host', 'By host'],
  ]
  return (
    <fieldset class="choice">
      <legend class="unseen">How the squares are grouped</legend>
      {choices.map(([each, word]) => (
        <button key={each} type="button" aria-pressed={each === order} onClick={() => choose(each)}>
          {word}
        </button>
      ))}
    </fieldset>
  )
}

function Notes({ overview }: { overview: UpdateOverview }) {
  const { failures, failed, hindrances, blocked, frozenBy } = overview
  const others = failures.filter(({ osd }) => osd !== frozenBy)
  if (others.length + hindrances.length === 0) return null
  return (
    <ul class="update-notes">
      {others.map(({ osd, why }) => (
        <li key={`failed ${osd}`}>
          <span class="osd failed" aria-hidden="true" /> osd.{osd} failed: {why}
        </li>
      ))}
      <More count={failed - failures.length} what="failed" />
      {hindrances.map(({ osd, why }) => (
        <li key={`held ${osd}`} class="blocker">
          <LockMark /> osd.{osd} cannot go now: {why}
        </li>
      ))}
      <More count={blocked - hindrances.length} what="cannot go now" />
    </ul>
  )
}

function More({ count, what }: { count: number; what: string }) {
  return count > 0 ? (
    <li class="soft">
      {count} more {what}
    </li>
  ) : null
}
