// The search of the site. Its index is fetched when a reader first goes there, as a script, since a page that was opened from a folder may fetch nothing else.
import { matchSections } from './match-sections.ts'

const most = 20
const form = document.querySelector('#search')
const field = form.querySelector('input')
const results = form.querySelector('#results')
const count = form.querySelector('#result-count')
const root = document.documentElement.dataset.root

let loading
function load() {
  loading ??= new Promise((done, fail) => {
    const script = document.createElement('script')
    script.src = `${root}search-index.js`
    script.onload = () => done(globalThis.searchIndex)
    script.onerror = () => fail(new Error('the index of the search was not found'))
    document.head.append(script)
  })
  return loading
}

function item({ section, excerpt }) {
  const link = document.createElement('a')
  link.href = root + section.address
  const title = document.createElement('strong')
  title.textContent = section.heading === section.page ? section.page : `${section.page}: ${section.heading}`
  const text = document.createElement('span')
  text.textContent = excerpt
  link.append(title, text)
  const entry = document.createElement('li')
  entry.append(link)
  return entry
}

function close() {
  results.replaceChildren()
  results.hidden = true
  count.textContent = ''
}

function show(sections) {
  const matches = matchSections(sections, field.value, most)
  results.replaceChildren(...matches.map(item))
  results.hidden = matches.length === 0
  const found = matches.length === most ? `the first ${most} results` : `${matches.length} results`
  count.textContent = field.value.trim() === '' ? '' : found
}

form.hidden = false
field.addEventListener('focus', load, { once: true })
field.addEventListener('input', () => {
  load().then(show, (error) => {
    count.textContent = error.message
  })
})
form.addEventListener('submit', (event) => {
  event.preventDefault()
  results.querySelector('a')?.click()
})
form.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  close()
  field.focus()
})
form.addEventListener('focusout', (event) => {
  if (!form.contains(event.relatedTarget)) close()
})
// Some browsers focus no link that is clicked, and the list would be gone before the click.
results.addEventListener('pointerdown', (event) => event.preventDefault())
document.addEventListener('keydown', (event) => {
  const isTyped = event.target.closest('input, textarea') !== null
  if (event.key !== '/' || isTyped || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  field.focus()
})
