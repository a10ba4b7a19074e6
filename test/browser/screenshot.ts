import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { showIn, windows } from './browser.ts'

const folder = resolve(import.meta.dirname, '../../docs/images')
const kept = {
  '': windows['a wide window, light'],
  '-phone': windows['a phone, light'],
}

/** Renews the pictures that the documents have, where the run was asked to. For another one, put an empty file there first. */
export async function keepPictures(page: Page, name: string): Promise<void> {
  if (process.env['COFFERDAM_SCREENSHOTS'] !== 'renew') return
  for (const [suffix, window] of Object.entries(kept)) {
    const path = resolve(folder, `${name}${suffix}.png`)
    if (!existsSync(path)) continue
    await showIn(page, window)
    await page.evaluate('scrollTo(0, 0)')
    await page.screenshot({ path, animations: 'disabled' })
  }
}
