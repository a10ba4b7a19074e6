import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { showIn, windows } from './browser.ts'

const folder = resolve(import.meta.dirname, '../../docs/images')
const kept = {
  '': windows['a wide window, light'],
  '-phone': windows['a phone, light'],
}

/** Keeps pictures for the documents, where the run was asked to renew them. */
export async function keepPictures(page: Page, name: string): Promise<void> {
  if (process.env['COFFERDAM_SCREENSHOTS'] !== 'renew') return
  mkdirSync(folder, { recursive: true })
  for (const [suffix, window] of Object.entries(kept)) {
    await showIn(page, window)
    await page.evaluate('scrollTo(0, 0)')
    await page.screenshot({ path: resolve(folder, `${name}${suffix}.png`), animations: 'disabled' })
  }
}
