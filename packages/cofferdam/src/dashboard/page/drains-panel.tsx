import type { HoldAnswer } from '../../capabilities/drain-lock/view/hold-view.ts'
import { requesterText } from '../../capabilities/drain-lock/view/requester-text.ts'
import type { DrainView } from '../server/cluster-view.ts'
import { ageText } from './age-text.ts'
import { now } from './connection.ts'
import { LockMark } from './lock-mark.tsx'

/** Who takes which node out, how far it is and what it waits for; and who holds what. */
export function DrainsPanel({ drains, locks }: { drains: readonly DrainView[]; locks: readonly HoldAnswer[] }) {
  if (drains.length === 0 && locks.length === 0) return null
  return (
    <section class="drains panel" aria-labelledby="drains-title">
      <h2 id="drains-title">Drains and locks</h2>
      {drains.length === 0 ? null : (
        <ul class="drain-list">
          {drains.map((drain) => (
            <Drain key={drain.id} drain={drain} />
          ))}
        </ul>
      )}
      {locks.length === 0 ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section class="table-frame" tabIndex={0} aria-label="Locks, a table that scrolls">
          <table>
            <thead>
              <tr>
                <th scope="col">Lock</th>
                <th scope="col">State</th>
                <th scope="col">Who and why, and what ends it</th>
              </tr>
            </thead>
            <tbody>
              {locks.map((lock) => (
                <LockRow key={`${lock.key} ${lock.scope ?? ''} ${lock.holder}`} lock={lock} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  )
}

const tones = { Drained: 'calm', Rejected: 'alarm' } as const

function Drain({ drain }: { drain: DrainView }) {
  const { node, phase, since, intent, explanation, isBlocked, blockedBy, warnings, stays } = drain
  const requester = requesterText(drain)
  const tone = isBlocked ? 'alarm' : (tones[phase as keyof typeof tones] ?? 'busy')
  return (
    <li>
      <p>
        <strong>{node}</strong> <span class={`verdict ${tone}`}>{isBlocked ? `${phase}, blocked` : phase}</span>{' '}
        <span class="soft">
          {since === undefined ? '' : `for ${ageText(since, now.value)}, `}to {intent.toLowerCase()}
          {requester === undefined ? '' : `, asked by ${requester}`}
        </span>
      </p>
      <p>{explanation}</p>
      {stays.length === 0 ? null : <p class="soft">Stays on the node: {stays.join(', ')}</p>}
      {isBlocked
        ? blockedBy.map((each) => (
            <p key={`${each.object} ${each.reason} ${each.holder}`} class="blocker">
              <LockMark /> {each.object} ({each.reason}), held by {each.holder}. {each.wayOut}
            </p>
          ))
        : null}
      {warnings.map(({ object, says }) => (
        <p key={`${object} ${says}`} class="soft">
          Warning: {object} {says}
        </p>
      ))}
    </li>
  )
}

const stateWords: Record<HoldAnswer['state'], readonly [tone: 'calm' | 'busy' | 'alarm', word: string]> = {
  Granted: ['busy', 'Held'],
  Acting: ['busy', 'In use'],
  Orphaned: ['alarm', 'Orphaned'],
  Waiting: ['busy', 'Waited for'],
  AppLock: ['busy', 'Locked by its owner'],
  Ignored: ['alarm', 'Ignored'],
}

function LockRow({ lock: { key, scope, state, holder, until = '', says, ends } }: { lock: HoldAnswer }) {
  const [tone, word] = stateWords[state]
  return (
    <tr>
      <th scope="row" class="name">
        {key}
        {scope === undefined ? null : <div class="soft">failure domain {scope}</div>}
      </th>
      <td>
        <span class={`verdict ${tone}`}>{word}</span>
        {until === '' ? null : <div class="soft">until {until}</div>}
      </td>
      <td class="prose">
        <p>{state === 'Ignored' ? says : `${holder} ${says}`}</p>
        <p class="soft">Ends with: {ends}</p>
      </td>
    </tr>
  )
}
