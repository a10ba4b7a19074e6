import { computed, effect } from '@preact/signals'
import { render } from 'preact'
import { viewCluster } from '../server/cluster-view-model.ts'
import { openDrains, viewLocks } from '../server/lock-view-model.ts'
import { viewUpdates } from '../server/osd-update-view-model.ts'
import { verdictsOf } from '../server/verdicts-of.ts'
import { BudgetsTable } from './budgets-table.tsx'
import { CapabilityPanels } from './capability-panels.tsx'
import { CephPanels, isCephTroubled } from './ceph-panel.tsx'
import { actionToken, connection, followCluster, now, view } from './connection.ts'
import { DrainsPanel } from './drains-panel.tsx'
import { EventsList } from './events-list.tsx'
import { ExplanationPanel } from './explanation.tsx'
import { LonghornPanel } from './longhorn-panel.tsx'
import { OsdUpdatePanels } from './osd-update-panel.tsx'
import { Overview } from './overview.tsx'
import { PlanPanel } from './plan-panel.tsx'
import { PodDetail } from './pod-detail.tsx'
import { SignIn } from './sign-in.tsx'
import { TopBar } from './top-bar.tsx'
import { ZoneMap } from './zone-map.tsx'

const model = computed(() => (view.value === undefined ? undefined : viewCluster(view.value)))

/** Thousands of OSDs are not rendered anew while only other things change. */
const updateParts = computed(() => view.value?.osdUpdates)
const updates = computed(() => viewUpdates(updateParts.value ?? []))

/** Locks end by the clock, so this is rendered anew now and then; the rest only when something changes. */
const lately = computed(() => Math.floor(now.value / 5_000))
const locks = computed(() => (view.value === undefined ? [] : viewLocks(view.value, lately.value * 5_000)))

function Page() {
  const facts = view.value
  const shown = model.value
  return (
    <>
      <TopBar />
      {connection.value === 'signed-out' ? (
        <SignIn />
      ) : facts === undefined || shown === undefined ? (
        <main class="waiting" aria-busy="true">
          <p>
            {connection.value === 'connecting' ? 'Reading the cluster…' : 'The server does not answer. Trying again…'}
          </p>
        </main>
      ) : (
        <main class={connection.value === 'live' ? 'layout' : 'layout stale'}>
          <div class="summary">
            <Overview model={shown} />
            <CephPanels clusters={(facts.ceph ?? []).filter(isCephTroubled)} />
            <OsdUpdatePanels models={updates.value} />
            <PlanPanel />
          </div>
          <ZoneMap model={shown} />
          <div class="under-way">
            <DrainsPanel drains={openDrains(facts.drains)} locks={locks.value} />
            <CephPanels clusters={(facts.ceph ?? []).filter((cluster) => !isCephTroubled(cluster))} />
            <LonghornPanel panel={facts.longhorn[0]} />
            <CapabilityPanels panels={facts.panels ?? []} />
          </div>
          <BudgetsTable budgets={facts.budgets} verdictOf={verdictsOf(facts)} />
          <EventsList events={facts.events} />
        </main>
      )}
      <footer class="foot">
        <p>
          {actionToken.value === ''
            ? 'This page is read-only.'
            : 'A demo: open a node or a budget to try things on it.'}{' '}
          Times are those of the cluster.
        </p>
      </footer>
      <PodDetail />
      {connection.value === 'signed-out' ? null : <ExplanationPanel />}
    </>
  )
}

/** The state is seen in the row of tabs. */
const titleMarks = { calm: '✓', busy: '●', alarm: '▲' }
effect(() => {
  const shown = model.value
  const offline = connection.value === 'reconnecting' ? '(offline) ' : ''
  document.title =
    shown === undefined
      ? 'Cofferdam'
      : `${offline}${titleMarks[shown.headline.tone]} ${shown.headline.says} · Cofferdam`
})

const root = document.getElementById('page')
if (root !== null) render(<Page />, root)
followCluster()
