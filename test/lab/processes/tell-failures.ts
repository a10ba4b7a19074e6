import { afterEach } from 'vitest'
import { openJournals } from './journal.ts'

const shown = 80

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return
  for (const [folder, journal] of openJournals) {
    console.error(
      `\nThe end of ${folder}/journal.log (logs of each component are beside it):\n${journal.text(shown)}\n`,
    )
  }
})
