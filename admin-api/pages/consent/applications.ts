/** Lists applications with access to projects of the user, and revokes their access. */
import type { ApiKey } from '#core/access/keys/api-key.ts'
import type { Application, Applications } from '#core/consent/applications.ts'
import { changesSettings } from '#core/oauth/protocol/scopes.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { csrfField } from '../session/confirm-first.ts'
import { doneNotice } from '../layout/form-fields.ts'
import { html, type Html } from '../layout/html.ts'
import { keyChoice, keysToKeep } from '../layout/key-choice.ts'
import { page } from '../layout/layout.ts'
import type { PageTexts } from '../texts/texts-for.ts'
import { seeOther, type Pages, type SignedInRequest } from '../session/page-operation.ts'
import { scopesText } from './scope-texts.ts'
import { toolsetsText } from './toolset-fields.ts'
import { doneText, timeOf } from '../layout/page-texts.ts'

const applicationsPath = '/account/applications'

export const applicationOperations = (pages: Pages, applications: Applications): readonly Operation[] => [
  pages.signedIn({ path: applicationsPath, operationId: 'showApplications', summary: 'List the applications with access' }, (request) =>
    applicationsPage(applications, request),
  ),
  pages.form(
    {
      path: `${applicationsPath}/revoke`,
      operationId: 'endApplication',
      summary: 'End the access of an application',
      back: () => applicationsPath,
    },
    async ({ signedIn, form }) => {
      const given = (name: string): string => form.get(name) ?? ''
      const named = { clientId: given('client'), organizationId: given('organization'), projectId: given('project') }
      await applications.revoke(signedIn.user.id, named, { toKeep: keysToKeep(form) })
      return seeOther(`${applicationsPath}?done=application_revoked`)
    },
  ),
]

async function applicationsPage(applications: Applications, { signedIn, visitor, query, texts }: SignedInRequest): Promise<Answer> {
  const { id } = signedIn.user
  const said = texts.applications
  const list = await Promise.all(
    (await applications.list(id)).map(async (application) => ({ application, keys: await applications.keysOf(id, application) })),
  )
  return page({
    title: said.title,
    lang: texts.lang,
    width: 'wide',
    visitor,
    section: 'account',
    content: html`<a class="back" href="/settings/you">← ${texts.account}</a>
      <h1>${said.title}</h1>
      ${doneNotice(doneText(query('done'), texts))}
      <section class="sheet" aria-labelledby="allowed">
        <h2 id="allowed">${said.allowed}</h2>
        ${
          list.length > 0
            ? html`<p class="meta">${said.allowedText}</p>
                <ul class="rows">
                  ${list.map(({ application, keys }) => row(application, keys, csrfField(visitor), texts))}
                </ul>`
            : html`<p>${said.none}</p>`
        }
      </section>`,
  })
}

const row = (application: Application, keys: readonly ApiKey[], csrf: Html, texts: PageTexts): Html => {
  const said = texts.applications
  const { clientId, clientName, verifiedHost, organization, project, scopes, reachesOrganization, toolsets, since } = application
  const shown = toolsetsText(toolsets, texts)
  return html`<li>
    <div>
      <h3>${clientName} ${verifiedHost !== undefined && html`<span class="tag">${verifiedHost}</span>`}</h3>
      <p class="meta">
        ${said.where({ project: project.name, organization: organization.name, since: timeOf(since, texts.lang), may: scopesText(scopes, texts) })}
        ${verifiedHost === undefined && said.unverified} ${scopes.some(changesSettings) && said.stays}
        ${reachesOrganization && said.reachesOrganization} ${shown !== undefined && said.shownToolsets({ names: shown })}
      </p>
    </div>
    <form class="${keys.length === 0 ? 'side' : 'acts'}" method="post" action="${applicationsPath}/revoke">
      ${csrf}<input type="hidden" name="client" value="${clientId}" />
      <input type="hidden" name="organization" value="${organization.id}" />
      <input type="hidden" name="project" value="${project.id}" />
      ${keyChoice(keys, { mayKeep: true, kept: said.kept }, texts)}
      <button class="danger" aria-label="${said.revokeOf({ name: clientName, project: project.name })}">${said.revoke}</button>
    </form>
  </li>`
}
