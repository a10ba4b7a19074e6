import { useState } from 'preact/hooks'
import { refusedWith, signIn } from './connection.ts'

/** Asks for a token, where the server wants one. */
export function SignIn() {
  const [typed, setTyped] = useState('')
  return (
    <main class="waiting sign-in">
      <h2>Sign in with a token</h2>
      <p>
        This page shows all that the operator sees, to those who have the right to <code>get</code> the path{' '}
        <code>/cofferdam/dashboard</code>.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          signIn(typed.trim())
          setTyped('')
        }}
      >
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <button type="submit" disabled={typed.trim() === ''}>
          Sign in
        </button>
      </form>
      {refusedWith.value === '' ? null : <p role="alert">{refusedWith}</p>}
      <p class="soft">
        For one of a ServiceAccount: <code>kubectl create token NAME --audience cofferdam-dashboard</code>. It is kept
        in the memory of this page, until the page is closed or loaded again.
      </p>
    </main>
  )
}
