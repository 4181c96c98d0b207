/**
 * The first minute: a daemon started by `npm start`, its printed SMTP login, and third-party clients with only host, port, user and
 * password. The project captures each message, because it has no route.
 */
import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from '#test'
import { createTransport } from 'nodemailer'
import { Daemon, portOf } from '../support/daemon/daemon.ts'
import { testWith } from '../support/peers/peers.ts'
import { catchAllInbox, type Login } from '../support/daemon/provision.ts'
import { RestClient } from '../support/daemon/rest.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'

const run = promisify(execFile)

/** Default settings; only the ports are free ones. */
const asDelivered = { POSTERN_ADMIN_KEY: '', POSTERN_SUBMISSION_CLEARTEXT_AUTH: '', POSTERN_OUTBOUND_ALLOW: '' }

interface Place {
  readonly folder: string
  readonly rest: RestClient
  readonly login: Login
  readonly port: number
}

const lifetime = new AsyncDisposableStack()
let place: Place

test.before(async () => {
  const folder = lifetime.use(await temporaryFolder('first-minute')).path
  const daemon = lifetime.use(await Daemon.start({ folder, env: asDelivered }))
  const printed = (pattern: RegExp): string => pattern.exec(daemon.log)?.[1] ?? ''
  const rest = lifetime.use(new RestClient(daemon.addresses.http, printed(/^ {2}(svckey_\S+)$/m)))
  const login = { username: printed(/^ {2}user +(smtp_\S+)$/m), password: printed(/^ {2}password +(\S+)$/m) }
  place = { folder, rest, login, port: portOf(daemon.addresses.submission[0]) }
})
test.after.always(() => lifetime.disposeAsync())

async function assertCaptured(t: ExecutionContext, subject: string): Promise<void> {
  const found: Record<string, unknown>[] = []
  for await (const row of place.rest.rows(`/v1/inboxes/${await catchAllInbox(place.rest)}/messages`))
    if (row['subject'] === subject) found.push(row)
  t.is(found.length, 1, `messages named ${subject}`)
  t.like(found[0], { capture_reason: 'captured.no_route', intended_from: 'web@site.test', intended_to: ['anna@shop.test'] })
}

/** Runs a program with port, user, password and subject as arguments. */
function hasHome(): boolean {
  try {
    accessSync(homedir(), constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function sendWith(t: ExecutionContext, subject: string, command: string, args: readonly string[]): Promise<void> {
  const { login, port } = place
  // Go compiles into a cache; a service account may have no home folder
  const env = hasHome() ? process.env : { ...process.env, GOCACHE: join(place.folder, 'go-cache') }
  await run(command, [...args, String(port), login.username, login.password, subject], { env })
  await assertCaptured(t, subject)
}

async function script(name: string, text: string): Promise<string> {
  const file = join(place.folder, name)
  await writeFile(file, text)
  return file
}

test('first minute: nodemailer sends with only host, port and login', async (t) => {
  const { login, port } = place
  const transport = createTransport({ host: '127.0.0.1', port, auth: { user: login.username, pass: login.password } })
  await transport.sendMail({ from: 'web@site.test', to: 'anna@shop.test', subject: 'nodemailer', text: 'Hello' })
  transport.close()
  await assertCaptured(t, 'nodemailer')
})

testWith('swaks')('first minute: swaks sends with only server and login', async (t) => {
  const { login, port } = place
  const server = ['--server', `127.0.0.1:${port}`, '--auth-user', login.username, '--auth-password', login.password]
  await run('swaks', [...server, '--from', 'web@site.test', '--to', 'anna@shop.test', '--header', 'Subject: swaks'])
  await assertCaptured(t, 'swaks')
})

const php = `<?php
require '/usr/share/php/libphp-phpmailer/autoload.php';
[, $port, $user, $password, $subject] = $argv;
$mail = new PHPMailer\\PHPMailer\\PHPMailer(true);
$mail->isSMTP();
$mail->Host = '127.0.0.1';
$mail->Port = (int) $port;
$mail->SMTPAuth = true;
$mail->Username = $user;
$mail->Password = $password;
$mail->setFrom('web@site.test');
$mail->addAddress('anna@shop.test');
$mail->Subject = $subject;
$mail->Body = 'Hello';
$mail->send();
`

testWith('php', 'phpmailer')('first minute: PHPMailer sends with only host, port and login', async (t) =>
  sendWith(t, 'PHPMailer', 'php', [await script('send.php', php)]),
)

const smtplib = `
import smtplib, sys
port, user, password, subject = sys.argv[1:]
server = smtplib.SMTP('127.0.0.1', int(port))
server.login(user, password)
server.sendmail('web@site.test', ['anna@shop.test'], 'From: web@site.test\\r\\nTo: anna@shop.test\\r\\nSubject: %s\\r\\n\\r\\nHello' % subject)
server.quit()
`

testWith('python')("Python's smtplib sends with host, port and login alone", async (t) =>
  sendWith(t, 'smtplib', '/usr/bin/python3', [await script('send.py', smtplib)]),
)

const django = `
import sys
from django.conf import settings
from django.core.mail import send_mail
port, user, password, subject = sys.argv[1:]
settings.configure(EMAIL_HOST='127.0.0.1', EMAIL_PORT=int(port), EMAIL_HOST_USER=user, EMAIL_HOST_PASSWORD=password)
send_mail(subject, 'Hello', 'web@site.test', ['anna@shop.test'])
`

testWith('python', 'django')('first minute: Django sends with only its four settings', async (t) =>
  sendWith(t, 'Django', '/usr/bin/python3', [await script('send_django.py', django)]),
)

const go = `package main

import (
	"net/smtp"
	"os"
)

func main() {
	port, user, password, subject := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	auth := smtp.PlainAuth("", user, password, "127.0.0.1")
	mail := "From: web@site.test\\r\\nTo: anna@shop.test\\r\\nSubject: " + subject + "\\r\\n\\r\\nHello\\r\\n"
	if err := smtp.SendMail("127.0.0.1:"+port, auth, "web@site.test", []string{"anna@shop.test"}, []byte(mail)); err != nil {
		panic(err)
	}
}
`

testWith('go')("Go's net/smtp sends with address and PlainAuth alone", async (t) =>
  sendWith(t, 'Go', 'go', ['run', await script('send.go', go)]),
)
