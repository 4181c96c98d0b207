<?php
// Sends the letter with Symfony Mailer as the core of Drupal sets it up from its settings: drupal.php SETTINGS FROM.
require __DIR__ . '/symfony-letter.php';

use Symfony\Component\Mailer\Transport;
use Symfony\Component\Mailer\Transport\Dsn;

$config = [];
require $argv[1];
$defaults = ['scheme' => 'sendmail', 'host' => 'default', 'user' => null, 'password' => null, 'port' => null, 'options' => []];
$mail = array_replace_recursive(['interface' => ['default' => 'php_mail'], 'mailer_dsn' => $defaults], $config['system.mail']);
if ($mail['interface']['default'] !== 'symfony_mailer') throw new Exception('another plugin');
(new Transport(Transport::getDefaultFactories()))->fromDsnObject(new Dsn(...$mail['mailer_dsn']))->send(letter($argv[2]));
