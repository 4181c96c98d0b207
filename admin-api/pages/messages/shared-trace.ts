/** The public view of a trace as a page: the outcome of a message, without anything that belongs to its sender alone. */
import type { SharedTrace } from '#core/trace/story/redact.ts'
import type { Answer } from '../../operation/answer.ts'
import { varies } from '../../http/negotiation.ts'
import { html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { statusTag, statusWords, timeline } from './trace-words.ts'
import { timeOf } from '../layout/page-words.ts'

export function sharedTracePage(trace: SharedTrace): Answer {
  const { label, sentence } = statusWords(trace.status)
  return page({
    title: `Message ${label}`,
    width: 'wide',
    headers: varies,
    content: html`<section class="sheet" aria-labelledby="verdict">
        <p class="eyebrow">Status of a message</p>
        <h1 id="verdict">${sentence}</h1>
        <dl class="mail">
          <dt>Status</dt>
          <dd>${statusTag(trace.status)}</dd>
          <dt>Accepted</dt>
          <dd>${timeOf(trace.createdAt)}</dd>
          ${
            trace.provider !== null &&
            html`<dt>Provider</dt>
              <dd>${trace.provider}</dd>`
          }
          <dt>Trace</dt>
          <dd><code class="token">${trace.traceId}</code></dd>
        </dl>
      </section>
      ${
        trace.recipients.length > 0 &&
        html`<section class="sheet" aria-labelledby="recipients">
          <h2 id="recipients">${trace.recipients.length === 1 ? 'Recipient' : 'Recipients'}</h2>
          <ul class="rows">
            ${trace.recipients.map(
              ({ address, status }) =>
                html`<li>
                  <code class="token">${address}</code>
                  <p class="side">${statusTag(status)}</p>
                </li>`,
            )}
          </ul>
        </section>`
      }
      <section class="sheet" aria-labelledby="story">
        <h2 id="story">Timeline</h2>
        ${timeline(trace.timeline)}
      </section>
      <p class="meta aside">
        Times are UTC. Anyone who has this address can see this page; it shows no content, no subject and no full address. Programs get the
        same as JSON.
      </p>`,
  })
}
