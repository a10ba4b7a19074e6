// `npm start`: builds, then runs the demo in this very process.
await import('./build.mjs')

// npm starts this through a shell, and a signal for npm ends only that shell: being orphaned means that the end was wanted.
const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM')
}, 250).unref()

process.argv.splice(2, 0, 'demo')
await import('../bin/cofferdam.js')
