/** Header tab of a message: servers with their delays, authentication results and all header fields. */
import type { JSX } from 'preact'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { span } from '../parts/time.ts'
import type { CapturedMessage } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'

type Fields = CapturedMessage['headers']

export function Headers({ headers }: { readonly headers: Fields }): JSX.Element {
  const hops = hopsOf(headers)
  const results = resultsOf(headers)
  return (
    <>
      {results.length > 0 && (
        <ul class="auth-results">
          {results.map(({ method, result, isGood }) => (
            <li key={`${method} ${result}`}>
              <Mark name={isGood ? 'ok' : result === 'none' || result === 'neutral' ? 'none' : 'failed'} />
              <code>
                {method}={result}
              </code>
            </li>
          ))}
        </ul>
      )}
      {hops.length > 0 && (
        <ol class="hops" aria-label={texts().hops}>
          {hops.map(({ by, at, delay }, i) => (
            <li key={i}>
              <code>
                <SafeText text={by} />
              </code>
              <time datetime={at}>{at}</time>
              <span class="num">{delay === undefined ? '' : `+${span(delay)}`}</span>
            </li>
          ))}
        </ol>
      )}
      <dl class="headers">
        {headers.map(({ name, value }, i) => (
          <div key={i}>
            <dt>
              <SafeText text={name} />
            </dt>
            <dd>
              <SafeText text={value} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

/** Returns the servers of the Received fields, the first one first. Delays are approximate, because clocks differ. */
function hopsOf(headers: Fields): readonly { readonly by: string; readonly at: string; readonly delay: number | undefined }[] {
  const received = headers.filter(({ name }) => name.toLowerCase() === 'received').reverse()
  let before: number | undefined
  return received.map(({ value }) => {
    const time = Date.parse(value.slice(value.lastIndexOf(';') + 1).trim())
    const delay = before === undefined || Number.isNaN(time) ? undefined : Math.max(0, time - before)
    if (!Number.isNaN(time)) before = time
    return { by: /\bby\s+(\S{1,200})/.exec(value)?.[1] ?? '–', at: Number.isNaN(time) ? '–' : new Date(time).toISOString(), delay }
  })
}

interface AuthResult {
  readonly method: string
  readonly result: string
  readonly isGood: boolean
}

const maxResults = 12

/** Returns each distinct SPF, DKIM, DMARC and ARC result once (RFC 8601 §2.2). */
function resultsOf(headers: Fields): readonly AuthResult[] {
  const found = new Map<string, AuthResult>()
  for (const { name, value } of headers) {
    if (!/^(arc-)?authentication-results$/i.test(name)) continue
    for (const [, method = '', result = ''] of value.slice(0, 8192).matchAll(/\b(spf|dkim|dmarc|arc)=([a-z]{1,12})\b/gi)) {
      const one = { method: method.toLowerCase(), result: result.toLowerCase(), isGood: result.toLowerCase() === 'pass' }
      if (found.size < maxResults) found.set(`${one.method} ${one.result}`, one)
    }
  }
  return [...found.values()]
}
