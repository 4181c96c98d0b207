/** The bare address: where to sign in and how to send for visitors, the dashboard for users, a signpost for programs. */
import { answer, type Answer } from '../../operation/answer.ts'
import { prefersPage, varies } from '../../http/negotiation.ts'
import type { Operation } from '../../operation/operation.ts'
import { dashboard, type DashboardCore } from '../../dashboard/mount.ts'
import { html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import type { Pages } from '../session/page-operation.ts'

export const startOperation = (pages: Pages, core: DashboardCore): Operation =>
  pages.open({ path: '/', operationId: 'showStart', summary: 'Show where to begin' }, (request) => {
    const { headers, signedIn } = request
    if (!prefersPage(headers)) return answer(signpost(core.baseUrl), { headers: varies })
    if (!signedIn) return welcome(core.baseUrl)
    return dashboard(pages, core, { ...request, signedIn, visitor: pages.browsers.visitorOf(signedIn) })
  })

const signpost = (baseUrl: string): object => ({
  name: 'Postern',
  send: { method: 'POST', url: `${baseUrl}/v1/messages` },
  openapi_url: `${baseUrl}/openapi.json`,
  health_url: `${baseUrl}/healthz`,
})

const welcome = (baseUrl: string): Answer =>
  page({
    title: 'Welcome',
    headers: varies,
    content: html`<div class="sheet">
        <h1>Mail relay for your sites</h1>
        <p class="lead">Postern relays mail through your own providers or captures it, and shows what happened to every message.</p>
        <div class="ways">
          <a class="button" href="/sign-in">Sign in</a>
          <a class="button quiet" href="/docs">Documentation</a>
          <a class="button quiet" href="/docs/api">API reference</a>
        </div>
      </div>
      <section class="sheet" aria-labelledby="send">
        <h2 id="send">Send a message</h2>
        <p class="meta">With an API key, from any program:</p>
        <pre class="code" tabindex="0">
curl ${baseUrl}/v1/messages \\
  -H "Authorization: Bearer $KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"from": "shop@example.com",
       "to": "ada@example.org",
       "subject": "Hello",
       "text": "It works."}'</pre>
        <p class="meta">Software that sends by SMTP signs in with an SMTP credential.</p>
      </section>`,
  })
