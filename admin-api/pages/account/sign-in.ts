/** Sign-in by mailed link or passkey, and sign-out. */
import { safePath } from '#core/people/sign-in/login-link.ts'
import type { LinkAnswers, LinkView } from '#core/people/sign-in/login-links.ts'
import { maxUserName } from '#core/people/users/user.ts'
import type { FieldProblem, Refusal } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { faultSummary, textField, type FieldFault } from '../layout/form-fields.ts'
import { html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import type { PageTexts } from '../texts/texts-for.ts'
import { Pages, seeOther, type PageRequest } from '../session/page-operation.ts'
import { passkeySignIn } from './passkey-form.ts'
import { operatorCommand } from '../layout/operator-command.ts'
import { oauthPaths } from '../../oauth/paths.ts'

export const signInOperations = (pages: Pages): readonly Operation[] => {
  const { people, browsers } = pages
  return [
    pages.open({ path: '/sign-in', operationId: 'showSignIn', summary: 'Show the sign-in page' }, (request) => {
      const next = safePath(request.query('next'))
      const again = request.query('again') !== undefined && request.signedIn !== undefined
      if (request.signedIn && !again) return seeOther(next)
      return signInPage(pages, request.texts, { next, email: again ? request.signedIn?.user.email : undefined, again })
    }),
    pages.openForm({ path: '/sign-in', operationId: 'requestSignInLink', summary: 'Mail a sign-in link' }, async (request) => {
      const email = (request.form.get('email') ?? '').trim()
      const next = safePath(request.form.get('next'))
      try {
        await people.loginLinks.request(email, next, request.remoteAddress)
      } catch (error) {
        if (!isFilledIn(error)) throw error
        return signInPage(pages, request.texts, {
          next,
          email,
          fault: { field: 'email', message: request.texts.signIn.needsAddress },
          status: 400,
        })
      }
      return sentPage(email, next, await people.mail.isReady(), request.texts)
    }),
    pages.openForm(
      { path: '/sign-in/passkey', operationId: 'signInByPasskey', summary: 'Sign in with a passkey' },
      async ({ form, headers }) => {
        const { cookie } = await people.passkeys.signIn(form.get('response') ?? '', browsers.browserOf(headers))
        return seeOther(safePath(form.get('next')), browsers.keep(cookie))
      },
    ),
    pages.form({ path: '/sign-out', operationId: 'signOut', summary: 'End the session', back: () => '/sign-in' }, async ({ signedIn }) => {
      await people.sessions.revoke(signedIn.user.id, signedIn.session.id)
      return seeOther('/signed-out', browsers.forget())
    }),
    pages.open({ path: '/signed-out', operationId: 'showSignedOut', summary: 'Show that the session has ended' }, ({ texts }) =>
      signedOutPage(texts),
    ),
    ...linkOperations(pages),
  ]
}

/** Opening a link changes nothing, since mail scanners open links. The button on its page signs in. */
const linkOperations = (pages: Pages): readonly Operation[] => {
  const { people, browsers } = pages
  const path = '/sign-in/link/{token}'
  const show = async (token: string, texts: PageTexts, typed: LinkAnswers = {}, fault?: FieldFault): Promise<Answer> =>
    linkPage(await people.loginLinks.look(token), texts, typed, fault)
  const consume = async ({ params: { token = '' }, form, headers, texts }: PageRequest): Promise<Answer> => {
    const typed = { email: form.get('email') ?? undefined, organization: form.get('organization') ?? undefined }
    try {
      const { cookie, next } = await people.loginLinks.consume(token, browsers.browserOf(headers), typed)
      return seeOther(next, browsers.keep(cookie))
    } catch (error) {
      if (!isFilledIn(error)) throw error
      return show(token, texts, typed, faultOf(error, texts))
    }
  }
  return [
    pages.open({ path, operationId: 'showSignInLink', summary: 'Ask whether to sign in' }, ({ params: { token = '' }, texts }) =>
      show(token, texts),
    ),
    pages.openForm({ path, operationId: 'useSignInLink', summary: 'Sign in with a link' }, consume),
  ]
}

interface SignInView {
  readonly next: string
  readonly email?: string | undefined
  readonly again?: boolean
  readonly fault?: FieldFault
  readonly status?: number
}

/** Also confirms the identity of a signed-in user. */
async function signInPage({ people }: Pages, texts: PageTexts, { next, email, again, fault, status }: SignInView): Promise<Answer> {
  const { lang, signIn } = texts
  const title = again ? signIn.again : signIn.title
  const isMailed = await people.mail.isReady()
  const command = operatorCommand(texts, { email, next, isMailed })
  return page({
    title: fault ? texts.problem({ title }) : title,
    lang,
    keepsOpener: true,
    hasScript: true,
    ...(status !== undefined && { status }),
    letterhead: {
      heading: title,
      lead: again ? signIn.againLead : new URL(people.relyingParty.origin).host,
      facts: factsOf(next, again ? email : undefined, signIn),
    },
    content: html`${faultSummary(fault)} ${!isMailed && command}
    ${
      isMailed &&
      html`<form method="post" action="/sign-in" novalidate>
        <input type="hidden" name="next" value="${next}" />
        ${textField({
          ...{ name: 'email', label: signIn.address, type: 'email', value: email, hint: signIn.byLink, fault },
          ...{ autocomplete: 'username webauthn', maxLength: 254 },
        })}
        <button>${signIn.mailLink}</button>
      </form>`
    }
    ${people.passkeys.areAvailable && passkeySignIn(await people.passkeys.requestOptions(), next, texts)} ${isMailed && command}`,
  })
}

/** Names the next step. Applications have no name here, since only the consent page says whether their name is verified. */
function factsOf(
  next: string,
  email: string | undefined,
  { you, nextStep, nextSteps }: PageTexts['signIn'],
): (readonly [string, string])[] {
  const step = next.startsWith(`${oauthPaths.authorize}?`)
    ? nextSteps.application
    : next.startsWith('/invitations/')
      ? nextSteps.invitation
      : undefined
  return [...(email === undefined ? [] : [[you, email] as const]), ...(step === undefined ? [] : [[nextStep, step] as const])]
}

const sentPage = (email: string, next: string, isMailed: boolean, texts: PageTexts): Answer =>
  page({
    title: texts.signIn.checkMail,
    lang: texts.lang,
    keepsOpener: true,
    hasScript: true,
    letterhead: { heading: isMailed ? texts.signIn.checkMail : texts.signIn.title },
    content: html`${
        isMailed &&
        html`<p>${texts.signIn.sent({ email })}</p>
          <p class="fine">${texts.signIn.noMail}</p>`
      }
      ${!isMailed && operatorCommand(texts, { email, next, isMailed })}
      <p class="decision"><a class="button quiet" href="/sign-in?next=${encodeURIComponent(next)}">${texts.signIn.otherAddress}</a></p>
      ${isMailed && operatorCommand(texts, { email, next, isMailed })}`,
  })

function faultOf({ details }: Refusal, { signIn }: PageTexts): FieldFault {
  const fields = details?.['fields'] as readonly FieldProblem[] | undefined
  const isName = fields?.some(({ path }) => path === 'organization') === true
  return isName
    ? { field: 'organization', message: signIn.needsOrganization({ max: maxUserName }) }
    : { field: 'email', message: signIn.needsOwnAddress }
}

function linkPage({ email, asksName }: LinkView, { lang, signIn }: PageTexts, typed: LinkAnswers, fault: FieldFault | undefined): Answer {
  return page({
    title: email === null ? signIn.welcome : signIn.title,
    lang,
    keepsOpener: true,
    ...(fault && { status: 400 }),
    letterhead:
      email === null ? { heading: signIn.welcomeTo, lead: signIn.becomesOwner } : { heading: signIn.title, lead: signIn.goOnAs({ email }) },
    content: html`${faultSummary(fault)}
      <form method="post" novalidate>
        ${
          email === null &&
          textField({
            name: 'email',
            label: signIn.ownAddress,
            type: 'email',
            value: typed.email,
            autocomplete: 'email',
            maxLength: 254,
            fault,
          })
        }
        ${
          asksName &&
          textField({
            ...{ name: 'organization', label: signIn.organization, hint: signIn.organizationHint, value: typed.organization, fault },
            ...{ autocomplete: 'organization', maxLength: maxUserName },
          })
        }
        <button>${signIn.title}</button>
      </form>`,
  })
}

const signedOutPage = ({ lang, signIn }: PageTexts): Answer =>
  page({
    title: signIn.signedOut,
    lang,
    letterhead: { heading: signIn.youAreSignedOut, lead: signIn.sessionEnded },
    content: html`<a class="button" href="/sign-in">${signIn.signInAgain}</a>`,
  })

const isFilledIn = (error: unknown): error is Refusal => (error as Partial<Refusal>).code === 'validation_failed'
