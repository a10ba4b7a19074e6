import type { PanelView } from '../server/cluster-view.ts'

/** These have a panel of their own that says more. */
const shownElsewhere = ['longhorn', 'osdUpdates', 'storage']

/** What each capability has to say of the whole cluster, in the words of `cofferdam status`. */
export function CapabilityPanels({ panels }: { panels: readonly PanelView[] }) {
  return (
    <>
      {panels
        .filter(({ id }) => !shownElsewhere.includes(id))
        .map(({ id, title, groups }) => (
          <section key={id} class="capability panel" aria-label={title}>
            <h2>{title}</h2>
            <ul class="drain-list">
              {groups.map(([first = '', ...details]) => (
                <li key={first}>
                  <p>{first}</p>
                  {details.map((detail) => (
                    <p key={detail} class="soft">
                      {detail}
                    </p>
                  ))}
                </li>
              ))}
            </ul>
          </section>
        ))}
    </>
  )
}
