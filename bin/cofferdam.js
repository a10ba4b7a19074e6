#!/usr/bin/env node
import { existsSync } from 'node:fs'

const bundle = new URL('../dist/cofferdam.js', import.meta.url)
if (existsSync(bundle)) {
  await import(bundle.href)
} else {
  console.error('Cofferdam is not built yet: run `npm run build` first.')
  process.exitCode = 1
}
