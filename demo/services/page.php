<?php // SPDX-License-Identifier: BSD-2-Clause
// A page of a site: php -S 127.0.0.1:PORT page.php
function render_row(array $row): string
{
	return '<tr><td>' . htmlspecialchars(ucwords($row['name'])) . '</td><td>' . number_format($row['price'], 2) . '</td></tr>';
}

function render_page(int $n): string
{
	$rows = [];
	for ($i = 0; $i < $n; $i++)
		$rows[] = ['name' => "item <$i> of " . md5((string)$i), 'price' => $i * 7919 % 1000 / 10];
	usort($rows, fn($a, $b) => $a['price'] <=> $b['price']);
	return '<table>' . implode('', array_map('render_row', $rows)) . '</table>';
}

echo render_page(600);
