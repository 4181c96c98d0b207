/** The root address: sign-in and an example request for visitors, the dashboard for users, links for programs. */
import { answer, type Answer } from '../../operation/answer.ts'
import { prefersPage, varies } from '../../http/negotiation.ts'
import type { Operation } from '../../operation/operation.ts'
import { startScreen, type DashboardCore } from '../../dashboard/mount.ts'
import { html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import type { PageTexts } from '../texts/texts-for.ts'
import type { Pages } from '../session/page-operation.ts'

export const startOperation = (pages: Pages, core: DashboardCore): Operation =>
  pages.open({ path: '/', operationId: 'showStart', summary: 'Show where to begin' }, (request) => {
    const { headers, signedIn } = request
    if (!prefersPage(headers)) return answer(signpost(core.baseUrl), { headers: varies })
    if (!signedIn) return welcome(core.baseUrl, request.texts)
    return startScreen(pages, core, { ...request, signedIn, visitor: pages.browsers.visitorOf(signedIn) })
  })

const signpost = (baseUrl: string): object => ({
  name: 'Postern',
  send: { method: 'POST', url: `${baseUrl}/v1/messages` },
  openapi_url: `${baseUrl}/openapi.json`,
  health_url: `${baseUrl}/healthz`,
})

const welcome = (baseUrl: string, { lang, start, signIn }: PageTexts): Answer =>
  page({
    title: start.title,
    lang,
    headers: varies,
    content: html`<div class="sheet">
        <h1>${start.heading}</h1>
        <p class="lead">${start.lead}</p>
        <div class="ways">
          <a class="button" href="/sign-in">${signIn.title}</a>
          <a class="button quiet" href="/docs">${start.documentation}</a>
          <a class="button quiet" href="/docs/api">${start.reference}</a>
        </div>
      </div>
      <section class="sheet" aria-labelledby="send">
        <h2 id="send">${start.send}</h2>
        <p class="meta">${start.withKey}</p>
        <pre class="code" tabindex="0">
curl ${baseUrl}/v1/messages \\
  -H "Authorization: Bearer $KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"from": "shop@example.com",
       "to": "ada@example.org",
       "subject": "Hello",
       "text": "It works."}'</pre>
        <p class="meta">${start.bySmtp}</p>
      </section>`,
  })
