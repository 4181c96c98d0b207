/** Signing in: by a link that is mailed, or by a passkey; and signing out. */
import { safePath } from '#core/people/sign-in/login-link.ts'
import type { Refusal } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { faultSummary, textField, type FieldFault } from '../layout/form-fields.ts'
import { html, type Html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { Pages, seeOther, type PageRequest } from '../session/page-operation.ts'
import { passkeySignIn } from './passkey-form.ts'
import { withoutMail } from '../layout/without-mail.ts'

export const signInOperations = (pages: Pages): readonly Operation[] => {
  const { people, browsers } = pages
  return [
    pages.open({ path: '/sign-in', operationId: 'showSignIn', summary: 'Show the sign-in page' }, (request) => {
      const next = safePath(request.query('next'))
      const again = request.query('again') !== undefined && request.signedIn !== undefined
      if (request.signedIn && !again) return seeOther(next)
      return signInPage(pages, { next, email: again ? request.signedIn?.user.email : undefined, again })
    }),
    pages.openForm({ path: '/sign-in', operationId: 'requestSignInLink', summary: 'Mail a sign-in link' }, async (request) => {
      const email = (request.form.get('email') ?? '').trim()
      const next = safePath(request.form.get('next'))
      try {
        await people.loginLinks.request(email, next, request.remoteAddress)
      } catch (error) {
        if (!isFilledIn(error)) throw error
        return signInPage(pages, {
          next,
          email,
          fault: { field: 'email', message: 'Enter an email address, such as name@example.org.' },
          status: 400,
        })
      }
      return sentPage(email, await people.mail.isReady())
    }),
    pages.openForm(
      { path: '/sign-in/passkey', operationId: 'signInByPasskey', summary: 'Sign in by a passkey' },
      async ({ form, headers }) => {
        const { cookie } = await people.passkeys.signIn(form.get('response') ?? '', browsers.browserOf(headers))
        return seeOther(safePath(form.get('next')), browsers.keep(cookie))
      },
    ),
    pages.form({ path: '/sign-out', operationId: 'signOut', summary: 'End the session', back: () => '/sign-in' }, async ({ signedIn }) => {
      await people.sessions.revoke(signedIn.user.id, signedIn.session.id)
      return seeOther('/signed-out', browsers.forget())
    }),
    pages.open({ path: '/signed-out', operationId: 'showSignedOut', summary: 'Say that the session ended' }, () => signedOutPage),
    ...linkOperations(pages),
  ]
}

/** Following a link changes nothing, as scanners do; the button on its page does. */
const linkOperations = (pages: Pages): readonly Operation[] => {
  const { people, browsers } = pages
  const path = '/sign-in/link/{token}'
  const show = async (token: string, typed = '', fault?: FieldFault): Promise<Answer> =>
    linkPage((await people.loginLinks.look(token)).email, typed, fault)
  const consume = async ({ params: { token = '' }, form, headers }: PageRequest): Promise<Answer> => {
    const typed = form.get('email') ?? ''
    try {
      const { cookie, next } = await people.loginLinks.consume(token, browsers.browserOf(headers), typed)
      return seeOther(next, browsers.keep(cookie))
    } catch (error) {
      if (!isFilledIn(error)) throw error
      return show(token, typed, { field: 'email', message: 'Enter your email address, such as name@example.org.' })
    }
  }
  return [
    pages.open({ path, operationId: 'showSignInLink', summary: 'Ask whether to sign in' }, ({ params: { token = '' } }) => show(token)),
    pages.openForm({ path, operationId: 'useSignInLink', summary: 'Sign in by a link' }, consume),
  ]
}

interface SignInView {
  readonly next: string
  readonly email?: string | undefined
  readonly again?: boolean
  readonly fault?: FieldFault
  readonly status?: number
}

async function signInPage({ people }: Pages, { next, email, again, fault, status }: SignInView): Promise<Answer> {
  const title = again ? 'Confirm your identity' : 'Sign in'
  const hasPasskeys = people.passkeys.areAvailable
  const isMailed = await people.mail.isReady()
  const lead = isMailed ? 'You get a link by email; there is no password.' : 'There is no password.'
  return page({
    title: fault ? `Problem: ${title}` : title,
    keepsOpener: true,
    hasScript: hasPasskeys,
    ...(status !== undefined && { status }),
    content: html`<div class="sheet">
      <h1>${title}</h1>
      <p class="lead">${again ? 'This is asked before changes that are hard to undo.' : lead}</p>
      ${faultSummary(fault)}
      ${
        isMailed
          ? html`<form method="post" action="/sign-in" novalidate>
              <input type="hidden" name="next" value="${next}" />
              ${textField({ name: 'email', label: 'Mail address', type: 'email', value: email, autocomplete: 'username webauthn', maxLength: 254, fault })}
              <button>Email me a link</button>
            </form>`
          : withoutMail(email)
      }
      ${hasPasskeys && passkeySignIn(await people.passkeys.requestOptions(), next)}
    </div>`,
  })
}

const sentPage = (email: string, isMailed: boolean): Answer =>
  page({
    title: 'Check your email',
    keepsOpener: true,
    content: html`<div class="sheet">
      <h1>Check your email</h1>
      ${
        isMailed
          ? html`<p>If <b>${email}</b> can sign in here, a link is on its way. It works once, within 15 minutes, on any device.</p>
              <p class="hint">No email? Check the spam folder and the address.</p>`
          : withoutMail(email)
      }
      <a class="button quiet" href="/sign-in">Use another address</a>
    </div>`,
  })

function linkPage(email: string | null, typed: string, fault: FieldFault | undefined): Answer {
  const first: Html = html`<h1>Welcome to Postern</h1>
    <p class="lead">You become the owner of this service’s first organization. Sign-in links will go to this address.</p>
    ${faultSummary(fault)}`
  const known: Html = html`<h1>Sign in</h1>
    <p class="lead">Go on as <b>${email}</b>. The link works once.</p>`
  return page({
    title: email === null ? 'Welcome' : 'Sign in',
    keepsOpener: true,
    ...(fault && { status: 400 }),
    content: html`<div class="sheet">
      ${email === null ? first : known}
      <form method="post" novalidate>
        ${
          email === null &&
          textField({
            name: 'email',
            label: 'Your mail address',
            type: 'email',
            value: typed,
            autocomplete: 'email',
            maxLength: 254,
            fault,
          })
        }
        <button>Sign in</button>
      </form>
    </div>`,
  })
}

const signedOutPage = page({
  title: 'Signed out',
  content: html`<div class="sheet">
    <h1>You are signed out</h1>
    <p>The session in this browser has ended.</p>
    <a class="button" href="/sign-in">Sign in again</a>
  </div>`,
})

const isFilledIn = (error: unknown): boolean => (error as Partial<Refusal>).code === 'validation_failed'
