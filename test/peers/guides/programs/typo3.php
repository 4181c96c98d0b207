<?php
// Sends the letter with Symfony Mailer as TYPO3 sets it up from its configuration: typo3.php ADDITIONAL.
require __DIR__ . '/symfony-letter.php';

use Symfony\Component\Mailer\Transport\Smtp\EsmtpTransport;

$GLOBALS['TYPO3_CONF_VARS']['MAIL'] = ['transport' => 'sendmail', 'transport_smtp_server' => 'localhost:25', 'defaultMailFromName' => ''];
ob_start();
require $argv[1];
if (ob_get_clean() !== '') throw new Exception('the file is shown to visitors');
$settings = $GLOBALS['TYPO3_CONF_VARS']['MAIL'];
if ($settings['transport'] !== 'smtp') throw new Exception('another transport');
[$host, $port] = explode(':', $settings['transport_smtp_server']);
$transport = new EsmtpTransport($host, (int) $port, $settings['transport_smtp_encrypt'] ?: null);
$transport->setUsername($settings['transport_smtp_username'])->setPassword($settings['transport_smtp_password']);
$transport->send(letter($settings['defaultMailFromAddress'], $settings['defaultMailFromName']));
