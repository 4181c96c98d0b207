/** Deletes an organization: lists the data that is deleted with it, and asks its owner to confirm. */
import type { Organizations } from '#core/administration/organizations.ts'
import { graceDays } from '#core/tenancy/removal-key.ts'
import { invalid, Refusal, type FieldProblem } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { confirmFirst, csrfField } from '../session/confirm-first.ts'
import { faultSummary, textField, type FieldFault } from '../layout/form-fields.ts'
import { html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { membersPath } from './organizations.ts'
import { saidIn, type PageTexts } from '../texts/texts-for.ts'
import { seeOther, type Pages, type SignedInRequest } from '../session/page-operation.ts'

const maxName = 200

export const organizationEndPath = (organizationId: string): string => `/organizations/${organizationId}/delete`

export function organizationEndOperations(pages: Pages, organizations: Pick<Organizations, 'removeOwn'>): readonly Operation[] {
  const path = '/organizations/{id}/delete'
  const { people } = pages
  return [
    pages.signedIn({ path, operationId: 'askToEndOrganization', summary: 'Ask whether to delete an organization' }, (request) =>
      endPage(pages, request),
    ),
    pages.form(
      { path, operationId: 'endOrganization', summary: 'Delete an organization', back: ({ id = '' }) => organizationEndPath(id) },
      async (request) => {
        const { signedIn, form, texts } = request
        people.sessions.requireFresh(signedIn.session)
        const { principal, name } = await owned(pages, request)
        if ((form.get('name') ?? '').trim() !== name)
          throw invalid([{ path: 'name', message: texts.organization.deletion.badName({ name }) }])
        await organizations.removeOwn(principal, { discardQueued: form.has('discard_queued') })
        return seeOther('/organizations?done=ended')
      },
      (request, refusal) => endPage(pages, request, faultOf(refusal, request.texts)),
    ),
  ]
}

/** Returns the organization of an owner. Throws the same `not_found` for all other users. */
async function owned({ people }: Pages, { signedIn, params: { id = '' } }: SignedInRequest) {
  const { user } = signedIn
  const mine = (await people.members.organizationsOf(user.id)).find(({ organization }) => organization.id === id)
  const principal = await people.members.principalOf(user.id, id)
  if (!mine || !principal.owns) throw new Refusal('not_found', 'You do not own an organization with this id.')
  return { principal, name: mine.organization.name }
}

function faultOf({ code, message, details }: Refusal, texts: PageTexts): FieldFault {
  const [problem] = (code === 'validation_failed' ? (details?.['fields'] ?? []) : []) as readonly FieldProblem[]
  return problem
    ? { field: problem.path, message: problem.message }
    : { field: 'discard_queued', message: saidIn(texts, message) ?? message }
}

async function endPage(pages: Pages, request: SignedInRequest, fault?: FieldFault): Promise<Answer> {
  const { signedIn, visitor, form, params, texts } = request
  const { deletion: said } = texts.organization
  const { id = '' } = params
  const { name } = await owned(pages, request)
  const isFresh = pages.people.sessions.isFresh(signedIn.session)
  return page({
    title: fault ? texts.problem({ title: said.title({ name }) }) : said.title({ name }),
    lang: texts.lang,
    visitor,
    section: 'organizations',
    ...(fault && { status: 400 }),
    content: html`<div class="sheet">
      <p class="meta"><a class="back" href="${membersPath(id)}">← ${texts.places.members}</a></p>
      <h1>${said.question({ name })}</h1>
      ${faultSummary(fault)}
      <p>${said.effect({ days: graceDays })}</p>
      ${
        isFresh
          ? html`<form method="post" action="${organizationEndPath(id)}" novalidate>
              ${csrfField(visitor)}
              ${textField({
                ...{ name: 'name', label: said.name, autocomplete: 'off', maxLength: maxName, fault },
                hint: said.nameHint({ name }),
                value: form.get('name') ?? '',
              })}
              <label class="check"
                ><input type="checkbox" id="discard_queued" name="discard_queued" ${form.has('discard_queued') && html`checked`} />
                <span>${said.discard}</span></label
              >
              <button class="danger">${said.button}</button>
            </form>`
          : confirmFirst(organizationEndPath(id), said.confirm, texts)
      }
    </div>`,
  })
}
