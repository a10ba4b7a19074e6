import { computed } from '@preact/signals'
import { render } from 'preact'
import { tellCluster } from '../cluster-story.ts'
import { BudgetsTable } from './budgets-table.tsx'
import { connection, followCluster, view } from './connection.ts'
import { EventsList } from './events-list.tsx'
import { Overview } from './overview.tsx'
import { PodDetail } from './pod-detail.tsx'
import { TopBar } from './top-bar.tsx'
import { ZoneMap } from './zone-map.tsx'

const story = computed(() => (view.value === undefined ? undefined : tellCluster(view.value)))

function Page() {
  const facts = view.value
  const told = story.value
  return (
    <>
      <TopBar />
      {facts === undefined || told === undefined ? (
        <main class="waiting" aria-busy="true">
          <p>
            {connection.value === 'connecting'
              ? 'Looking at the cluster…'
              : 'The server does not answer. Trying again…'}
          </p>
        </main>
      ) : (
        <main class={connection.value === 'live' ? 'layout' : 'layout stale'}>
          <Overview story={told} />
          <ZoneMap story={told} />
          <BudgetsTable budgets={facts.budgets} />
          <EventsList events={facts.events} />
        </main>
      )}
      <footer class="foot">
        <p>This page only looks; it changes nothing. Times are the cluster’s.</p>
      </footer>
      <PodDetail />
    </>
  )
}

const root = document.getElementById('page')
if (root !== null) render(<Page />, root)
followCluster()
