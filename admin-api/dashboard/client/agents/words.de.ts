/** Deutsch. */
import { number } from '../parts/time.ts'
import type { Wider } from '../words/entries.ts'
import type { en } from './words.en.ts'

export const de: Wider<typeof en> = {
  say: (count) =>
    count === 0
      ? 'Keine Anwendung hat Zugriff.'
      : count === 1
        ? 'Eine Anwendung hat Zugriff.'
        : `${number(count)} Anwendungen haben Zugriff.`,
  sayText:
    'Agenten und andere Programme fragen zuerst eine Person, arbeiten in einem Projekt und dürfen nie mehr als die Rolle dessen, der sie eingelassen hat.',
  failed: 'Die Anwendungen können nicht gezeigt werden.',
  noneText: 'Verbinde einen Agenten mit der Adresse auf dieser Seite. Er öffnet eine Seite, auf der du ein Projekt wählst und was er darf.',
  application: 'Anwendung',
  unverified: 'Name nicht geprüft',
  allowedBy: 'Eingelassen von',
  lastCall: 'Letzter Aufruf',
  neverCalled: 'noch keiner',
  revoke: 'Widerrufen',
  revokeNamed: (name) => `${name} widerrufen`,
  revokeTitle: (name) => `Den Zugriff von ${name} widerrufen`,
  revokeEffect: (project) => `Alle ihre Token für das Projekt ${project} enden sofort. Um wiederzukommen, muss sie neu fragen.`,
  revokeKeys: 'API-Schlüssel, die sie erstellt hat, enden mit ihr.',
  revokeStays: 'SMTP-Zugänge und veröffentlichbare Schlüssel, die sie erstellt hat, bleiben: Prüfe diese.',
  revoked: (name, keys) =>
    keys === 0
      ? `${name} hat keinen Zugriff mehr.`
      : `${name} und ${keys === 1 ? 'ein Schlüssel' : `${number(keys)} Schlüssel`} davon haben keinen Zugriff mehr.`,
  connect: 'Einen Agenten verbinden',
  connectText: 'Gib dem Agenten diese Adresse als entfernten MCP-Server. Nichts wird installiert, kein Schlüssel kopiert.',
  address: 'MCP-Adresse',
  client: 'Programm',
  otherClient: 'JSON',
  inFile: (file) => `In ${file}:`,
  inTerminal: 'In einem Terminal:',
  waiting: 'Agenten, die auf dich warten',
  waitingText: (email) =>
    `Ein Agent arbeitet in einer Sandbox und hat ${email} gebeten, sie zu übernehmen. Übernimm sie nur, wenn er denselben Code zeigt.`,
  noneWaiting: (email) => `In den letzten 30 Minuten hat kein Agent nach ${email} gefragt.`,
  askedAt: (at) => `gefragt ${at}`,
  attach: 'Übernehmen',
  attachCode: (code) => `${code} übernehmen`,
  haveCode: 'Ich habe einen Code',
  code: 'Code',
  codeHint: 'Nur einen Code, den dein eigener Agent zeigt, etwa KITE-4207.',
}
