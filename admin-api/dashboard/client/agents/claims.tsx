/**
 * Sandboxes whose agents named the user's address, and the field for a claim code. Both lead to a page that lists the content of the
 * sandbox.
 */
import type { JSX } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { boot } from '../app/boot.ts'
import { keyFor, useKeys } from '../app/keys.ts'
import { useRead } from '../app/query.ts'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { texts } from './agents-texts.ts'

const everyMs = 15_000

export function Claims(): JSX.Element {
  const w = texts()
  const read = useRead('/v1/claims', {}, { every: everyMs })
  const id = useId()
  const both = useRef<HTMLDivElement>(null)
  useKeys({ a: () => both.current?.querySelector<HTMLElement>('.links a, .code-form input.input')?.focus() }, [])
  return (
    <div ref={both}>
      <div class="block">
        <h2>{w.waiting}</h2>
        <Show read={read} reload={read.reload} failure={w.failed} rows={1}>
          {({ data }) =>
            data.length === 0 ? (
              <p class="soft">{w.noneWaiting({ email: boot.email })}</p>
            ) : (
              <>
                <p class="soft">{w.waitingText({ email: boot.email })}</p>
                <ul class="links">
                  {data.map(({ user_code: code, client_name: client, started_at: at, path }) => (
                    <li key={code}>
                      <span class="status">
                        <Mark name="pending" />
                        <code class="matching-code">{code}</code>
                      </span>
                      <span>
                        <SafeText text={client} /> <span class="faint">{w.askedAt({ at: shortTime(at) })}</span>
                      </span>
                      <a class="button" href={path} aria-keyshortcuts={keyFor('a')} aria-label={w.attachCode({ code })}>
                        {w.attach}
                      </a>
                    </li>
                  ))}
                </ul>
              </>
            )
          }
        </Show>
      </div>
      <div class="block">
        <h2>{w.haveCode}</h2>
        <form class="code-form" method="post" action="/integrations/code">
          <input type="hidden" name="csrf" value={boot.csrfToken} />
          <div class="field">
            <label for={id}>{w.code}</label>
            <input
              id={id}
              class="input mono"
              aria-keyshortcuts={keyFor('a')}
              name="code"
              maxLength={40}
              autocomplete="off"
              required
              aria-describedby={`${id}-hint`}
            />
            <small id={`${id}-hint`}>{w.codeHint}</small>
          </div>
          <button class="button">{w.attach}</button>
        </form>
      </div>
    </div>
  )
}
